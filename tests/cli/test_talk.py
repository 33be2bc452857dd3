"""talk: what an interviewer asks, how well it was known, numbers to compute, cards for another program."""

import json
import re

import pytest

from grader.practice import quiz


def typed(tool, *arguments: str, lines: str) -> str:
    """Run a command that reads lines."""
    from click.testing import CliRunner  # noqa: PLC0415

    from grader.cli import main  # noqa: PLC0415

    result = CliRunner().invoke(main, arguments, prog_name="kata", input=lines)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_question_enter_answer_rating(tool):
    """The answer comes after Enter; the rating says when the question is asked again."""
    page = typed(tool, "talk", "second", lines="\n3\n\n7\n1\n")
    assert page.index("Why?") < page.index("Because of the cache.") < page.index("How large is it?")
    assert "due in 2 days" in page
    assert "due in 1 day" in page
    assert "2 questions answered." in page
    # Asked for by name they come before they are due, too; else nothing is asked.
    assert "Why?" in typed(tool, "talk", "second", lines="")
    assert "No question is due" in typed(tool, "talk", lines="")


def test_what_is_due_comes_first(tool):
    """Then what is new of katas that were passed; of others nothing."""
    tool.passes("first-one")
    typed(tool, "talk", "second", "--number", "1", lines="\n1\n")
    tool.days_later(9)
    page = typed(tool, "talk", lines="\n3\n\n3\n\n3\n")
    assert re.findall(r"\d/3 · (\S+)", page) == ["second/why", "first-one/why", "first-one/how-large"]
    assert json.loads(tool("today", "--json").stdout)["questions"] == []


@pytest.mark.parametrize("lines", ["q\n", "\nq\n", "", "\n"])
def test_stopping(tool, lines):
    """At every prompt; what was not rated is asked again."""
    assert "0 questions answered, 2 more are waiting." in typed(tool, "talk", "second", lines=lines)
    assert "1/2 · second/why" in typed(tool, "talk", "second", lines="q\n")


def test_what_was_rated_stays(tool):
    """Each rating is stored at once."""
    typed(tool, "talk", "second", lines="\n4\n\n")
    assert "1/1 · second/how-large" in typed(tool, "talk", "second", lines="")


def test_another_terminal_was_first(tool, monkeypatch):
    """Its rating counts, and this one says so."""
    from grader.history import History  # noqa: PLC0415

    real = History.rate

    def late(self, card, rating, **more):
        real(self, card, 4)
        return real(self, card, rating, **more)

    monkeypatch.setattr(History, "rate", late)
    assert "that rating counts" in typed(tool, "talk", "second", "--number", "1", lines="\n1\n")


def test_find(tool):
    """In ids, questions and answers, whatever the case."""
    page = tool("talk", "--find", "CACHE").stdout
    assert page.count("Because of the cache.") == 3
    assert "3 questions" in page
    assert "second/why" in tool("talk", "second", "--find", "cache").stdout
    assert "No question contains 'transistor'" in tool("talk", "--find", "transistor", code=2).output


def test_cards_for_anki(tool):
    """A line for each question: an id that stays, HTML without a line break, tags."""
    lines = tool("talk", "--export", "anki").stdout.splitlines()
    assert lines[:4] == ["#separator:tab", "#html:true", "#guid column:1", "#tags column:4"]
    assert len(lines) == 4 + 6
    assert lines[4] == "kata/first-one/why\tWhy?\tBecause of the cache.\tkata first-one"
    assert all(line.count("\t") == 3 for line in lines[4:])
    chinese = tool("--lang", "zh", "talk", "second", "--export", "anki", LANGUAGE="").stdout.splitlines()
    tool("--lang", "en", "list")
    assert chinese[4].startswith("kata/second/why/zh\t为什么")


def test_cards_have_no_gaps_between_chinese_words():
    """A line that was broken inside a Chinese sentence is joined to it, as on a terminal."""
    from grader.practice.anki import cards  # noqa: PLC0415
    from grader.practice.questions import Asked  # noqa: PLC0415

    answer = "因为一\n个很大的分数的\nmask。\n\n完"
    assert "因为一个很大的分数的 mask。<br><br>完" in list(cards([Asked("x/y", "x", "问", answer)], "zh"))[-1]


def test_numbers(tool):
    """The result with the way to it, and how many were right; the same again from the seed."""
    first, second = quiz.drawn(7, 2)
    page = typed(tool, "talk", "--quiz", "--seed", "7", "--number", "2", lines=f"{first.result}\nmuch\n")
    assert page.index("✓ right") < page.index(first.way) < page.index("✗ no number") < page.index(second.way)
    assert "1 of 2 right; `--seed 7` draws the same again." in page
    assert "0 of 1 right" in typed(tool, "talk", "--quiz", "--seed", "7", lines="0\nq\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--quiz", "--list"),
        ("--seed", "1"),
        ("--find", "x", "--export", "anki"),
        ("nonsense",),
        ("second", "--quiz"),
        ("nonsense", "--quiz"),
    ],
)
def test_what_does_not_go_together(tool, arguments):
    """Wrong use."""
    tool("talk", *arguments, code=2)


def test_a_seed_that_is_no_number(tool):
    """All of the sentence is in the reader's language."""
    page = tool("--lang", "zh", "talk", "--quiz", "--seed", "x", code=2, LANGUAGE="").output
    assert "integer" not in tool("--lang", "zh", "help", "talk", LANGUAGE="").output.lower()
    tool("--lang", "en", "list")
    assert "'x' 不是有效的整数。" in page
    assert "'x' is not a valid integer." in tool("talk", "--quiz", "--seed", "x", code=2).output


def test_all_questions_of_the_course():
    """In both languages, each with an id of its own that stays."""
    from grader.practice.questions import questions  # noqa: PLC0415

    english, chinese = questions("en"), questions("zh")
    assert [one.id for one in english] == [one.id for one in chinese]
    assert len({one.id for one in english}) == len(english) >= 207
    assert not any("<!--" in one.text + one.answer for one in english + chinese)


def test_ctrl_c_loses_nothing(tool, terminal):
    """What was rated is stored, and a sentence says that nothing else was touched."""
    screen = terminal(tool.process, "talk", "second", columns=60)
    screen.until("press Enter")
    screen.press("\n")
    screen.until("4 easy")
    screen.press("4\n")
    screen.until("2/2")
    screen.press("\x03")
    screen.until("Stopped.")
    assert screen.end() == 130
    assert "1/1 · second/how-large" in typed(tool, "talk", "second", lines="")
