"""The tool for a Chinese reader: help pages, usage errors and what the commands say."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

import json

import pytest
from click.testing import CliRunner

from grader.cli import COMMANDS, main
from grader.text import cells

CHINESE = {"KATA_LANG": "zh"}
WRONG_USE = [
    ["nope"],
    ["lst"],
    ["--bogus"],
    ["--lang", "fr", "list"],
    ["start"],
    ["start", "secnd"],
    ["start", "second", "third"],
    ["start", "--bogus"],
    ["grade"],
    ["grade", "second"],
    ["grade", "second", "--seed", "x"],
    ["grade", "second", "--device", "tpu"],
    ["grade", "second", "--file", "."],
    ["grade", "second", "--case"],
    ["list", "--track", "9"],
    ["hint"],
    ["solution", "second"],
    ["reset", "second"],
    ["restore", "second"],
    ["restore", "second", "--json"],
    ["repro", "second"],
    ["dev", "check"],
    ["dev", "nope"],
]


@pytest.fixture(autouse=True)
def _english_afterwards(tool, monkeypatch):
    """Let other tests have the tool in English again."""
    monkeypatch.setenv("LANGUAGE", "")
    yield
    tool("--version", KATA_LANG="en")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["dev", "check"]], ids=" ".join)
@pytest.mark.parametrize("width", ["50", "80"])
def test_help_pages(tool, english, command, width):
    """A help page has no English sentence, click's own words included, and fits into the terminal."""
    page = tool(*command, "--help", COLUMNS=width, TERMINAL_WIDTH=width, **CHINESE).stdout
    assert "用法：" in page
    assert "选项：" in page
    assert "显示这段帮助并退出。" in page
    assert english(page) == []
    for line in page.splitlines():
        assert cells(line) <= 80, line


@pytest.mark.parametrize("arguments", WRONG_USE, ids=" ".join)
def test_wrong_use(tool, english, arguments):
    """Whatever is wrong with a command is said in Chinese, by click and by us."""
    error = tool(*arguments, code=2, **CHINESE).stderr
    assert "错误：" in error
    assert english(error) == []


def test_wrong_numbers_and_variables(tool):
    """A number that is none has no English kind, and a language that comes from a variable is told as that."""
    assert "'x' 不是有效的整数。\n" in tool("grade", "second", "--seed", "x", code=2, **CHINESE).stderr
    error = tool("list", code=2, KATA_LANG="de").stderr
    assert "Invalid value for KATA_LANG: 'de' is none of en, zh." in error
    assert "Invalid value for '--lang'" in tool("--lang", "fr", "list", code=2).stderr


def test_a_round(tool, english):
    """From the list to a pass, what the commands say is Chinese."""
    said = []

    def kata(*arguments, code=0):
        result = tool(*arguments, code=code, COLUMNS="400", **CHINESE)
        said.append(result.output)
        return result.output

    assert "第一题" in kata("list")
    assert "题目。" in kata("start", "second")
    assert "已经存在" in kata("start", "second")
    tool.answer("fail")
    kata("grade", "--case", "nothing", code=1)
    assert "用 `kata hint second` 再往前一步。" in kata("grade", code=1)
    kata("repro")
    kata("repro")
    kata("status")
    kata("status", "second")
    tool.answer("pass")
    assert "second 通过：2 个用例，用时 0.21 秒" in kata("grade")
    kata("grade", "--case", "rows")
    kata("restore", "--list")
    kata("restore")
    kata("reset")
    kata("reset")
    kata("status")
    kata("doctor")
    kata("list")
    tool.answer("error")
    assert "出错的是评分器自身，不是你的答案。" in kata("grade", code=3)
    text = "\n".join(said)
    for made_up in (
        *(case[key] for case in tool.driver.FAILING for key in ("message", "about", "title") if case[key]),
        *(tool.driver.MISTAKE[key] for key in ("explain", "nudge", "title")),
        *tool.driver.PROBE["gaps"],
        "the judge ended without a report",
    ):
        text = text.replace(made_up, "·")
    assert english(text) == []


def test_the_option_goes_before_the_variable_before_the_locale(tool):
    """--lang decides, wherever the sentence comes from, even for what cannot be parsed."""
    assert "没有 '--bogus' 这个选项" in tool("--lang", "zh", "--bogus", code=2, KATA_LANG="en").stderr
    assert "没有 '--bogus' 这个选项" in tool("--lang=zh", "list", "--bogus", code=2).stderr
    assert "No such option" in tool("--lang", "en", "--bogus", code=2, **CHINESE).stderr
    assert "用法：" in tool("--help", LANG="zh_CN.UTF-8").stdout
    assert "Usage:" in tool("--help", LANG="zh_CN.UTF-8", KATA_LANG="en").stdout


def test_sentences_stand_close_together(tool):
    """No blank stands behind a full-width full stop."""
    tool.home.write_text("")
    said = tool("status", code=3, **CHINESE).stderr + tool("list", **CHINESE).stderr
    assert "警告：" in said
    assert "。 " not in said


def test_both_languages_in_one_process(tool):
    """Pages in both languages may follow each other: nothing of the one stays behind in the other."""
    before = tool("grade", "--help").stdout
    tool("grade", "--help", **CHINESE)
    assert tool("grade", "--help").stdout == before


def test_documents_keep_their_keys(tool):
    """--json has the same keys in every language; its texts follow the language."""
    english, chinese = (json.loads(tool("list", "--json", KATA_LANG=lang).stdout) for lang in ("en", "zh"))
    assert english.keys() == chinese.keys()
    assert [row["title"] for row in english["katas"]] == ["First one", "Second", "Third"]
    assert [row["title"] for row in chinese["katas"]] == ["第一题", "第二题", "第三题"]
    assert [row.keys() for row in english["katas"]] == [row.keys() for row in chinese["katas"]]


def test_practice(tool, english):
    """Where one stands, plans, reviews, questions, numbers and a mock interview have no English sentence."""
    said = []

    def kata(*arguments, code=0, lines=""):
        result = CliRunner().invoke(main, arguments, env={"COLUMNS": "400", **CHINESE}, prog_name="kata", input=lines)
        assert result.exit_code == code, result.output
        said.append(result.output)
        return result.output

    kata()
    tool.passes("first-one")
    tool.days_later(20)
    kata()
    kata("today")
    kata("plan", "--days", "3")
    kata("review", "--list")
    kata("review")
    tool.answer("pass", "first_one_review.py")
    kata("grade")
    kata("review")
    kata("review", "--rate", "hard")
    kata("review", "third", code=2)
    kata("talk", "second", lines="\n3\n\n1\n")
    kata("talk", "--find", "缓存")
    kata("talk", "--quiz", "--seed", "7", "--number", "22", lines="1\n" * 22)
    kata("mock", "second", "third")
    kata()
    tool.answer("pass", "second_mock.py")
    kata("grade")
    kata("hint", "second", code=2)
    kata("mock", "second", code=2)
    kata("mock", "--submit")
    kata("mock", "--end", lines="\n3\n")
    kata("mock", "--list")
    kata("solution", "first-one", "--diff")
    text = "\n".join(said)
    for made_up in (
        *(case[key] for case in tool.driver.FAILING for key in ("message", "about", "title") if case[key]),
        *(tool.driver.MISTAKE[key] for key in ("explain", "nudge", "title")),
    ):
        text = text.replace(made_up, "·")
    assert english(text) == []


def test_nothing_is_cut_at_sixty_columns(tool):
    """Long lines without a space are broken, not cut; a range stays in one piece beside its option."""
    pages = []
    for command in (["doctor"], ["grade", "--help"]):
        told, _error = tool.process(*command, environment={"COLUMNS": "60", **CHINESE}).communicate(timeout=60)
        pages.append(told.decode())
        assert "…" not in pages[-1]
        assert max(map(cells, pages[-1].splitlines())) <= 60
    assert "[0<=x<=9223372036854775807]" in pages[1]
