"""The catalogues of the tool's own sentences, and that every sentence goes through them."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

import ast
import gettext
import re
from pathlib import Path

import pytest

from grader import language
from grader.dev import messages

ROOT = Path(__file__).resolve().parent.parent
TRANSLATED = [lang for lang in language.LANGUAGES if lang != "en"]
SPOKEN = {*messages.SPOKEN, "examples", "commands"}
STYLE = re.compile(r"(bold|dim)( [a-z]+)?")
WORDS = re.compile(r"[A-Za-z]{2,}[,:]? [A-Za-z]{2,}")


@pytest.fixture
def chinese():
    """Speak Chinese for one test."""
    language.use("zh")
    yield
    language.use("en")


@pytest.mark.parametrize("lang", TRANSLATED)
def test_the_catalogue_is_complete(lang):
    """Nothing is missing, nothing is left over, placeholders agree, and the .mo file is what the .po file says."""
    assert list(messages.problems(lang)) == []


@pytest.mark.parametrize("lang", TRANSLATED)
def test_a_page_has_as_many_paragraphs_as_in_english(lang):
    """None is there twice."""
    entries = messages.read(messages.catalogue(lang))
    assert not [key[0] for key, entry in entries.items() if key[0].count("\n\n") != entry.text.count("\n\n")]


@pytest.mark.parametrize("lang", TRANSLATED)
def test_a_catalogue_comes_back_as_it_was_written(tmp_path, lang):
    """Writing a catalogue that was read gives the same file, so that `make messages` changes what it must."""
    file = messages.catalogue(lang)
    entries = messages.read(file)
    messages.write(tmp_path / "kata.po", entries, lang)
    assert (tmp_path / "kata.po").read_text(encoding="utf-8") == file.read_text(encoding="utf-8")
    assert len(entries) > 200


def test_gettext_reads_what_was_compiled(tmp_path):
    """Sentences with quotes, line breaks and two forms come out of the .mo file as they went in."""
    entries = {
        ('a "quoted" one\nand {name}',): messages.Entry("“引用”\n和 {name}", ("x.py",)),
        ("{count} day", "{count} days"): messages.Entry("{count} 天", ("x.py",)),
        ("not yet",): messages.Entry("", ("x.py",)),
    }
    messages.write(tmp_path / "kata.po", entries, "zh")
    assert messages.read(tmp_path / "kata.po") == entries
    file = tmp_path / "kata.mo"
    file.write_bytes(messages.compiled(entries, "zh"))
    with file.open("rb") as stream:
        catalogue = gettext.GNUTranslations(stream)
    assert catalogue.gettext('a "quoted" one\nand {name}') == "“引用”\n和 {name}"
    assert {catalogue.ngettext("{count} day", "{count} days", count) for count in (0, 1, 2)} == {"{count} 天"}
    assert catalogue.gettext("not yet") == "not yet"


def test_what_is_wrong_with_a_catalogue_is_named(tmp_path, monkeypatch):
    """A sentence that is missing, one left over, an empty one, a lost placeholder, a text twice: each is a problem."""
    said = ("Error: {sentence}", "`kata list` shows them all.", "There is no file {path}.", "List.\n\nAll of it.")
    monkeypatch.setattr(messages, "sentences", lambda: {(sentence,): ("x.py",) for sentence in said})
    monkeypatch.setattr(messages, "CATALOGUES", tmp_path)
    entries = {
        ("Nobody says this.",): messages.Entry("没有人这样说。", ("x.py",)),
        ("Usage:",): messages.Entry("用法：", (messages.CLICK,)),
        (said[1],): messages.Entry("", ("x.py",)),
        (said[2],): messages.Entry("没有这个文件。", ("x.py",)),
        (said[3],): messages.Entry("列出。\n\n全部。列出。\n\n全部。", ("x.py",)),
    }
    messages.write(messages.catalogue("zh"), entries, "zh")
    messages.catalogue("zh").with_suffix(".mo").write_bytes(b"")
    found = "\n".join(messages.problems("zh"))
    for problem in (
        "is not in the catalogue",
        "stands nowhere",
        "has no translation",
        "placeholders",
        "paragraphs",
        "kata.mo is not",
    ):
        assert found.count(problem) == 1


def test_bringing_a_catalogue_up_to_date(tmp_path, monkeypatch):
    """What is new is added without a translation and named, what is gone goes, what click says stays."""
    monkeypatch.setattr(messages, "sentences", lambda: {("old",): ("x.py",), ("new",): ("y.py",)})
    monkeypatch.setattr(messages, "CATALOGUES", tmp_path)
    known = messages.Entry("旧", ("w.py",)), messages.Entry("用法：", (messages.CLICK,))
    messages.write(messages.catalogue("zh"), {("old",): known[0], ("gone",): known[0], ("Usage:",): known[1]}, "zh")
    assert messages.update("zh") == ["new"]
    assert messages.read(messages.catalogue("zh")) == {
        ("old",): messages.Entry("旧", ("x.py",)),
        ("new",): messages.Entry("", ("y.py",)),
        ("Usage:",): known[1],
    }


def test_the_language_of_a_process(chinese):
    """Sentences come from the catalogue; one that it does not have, and the empty one, come back as they are."""
    assert language.current() == "zh"
    assert language._("Example:") == "示例："
    assert language._("no such sentence") == "no such sentence"
    assert language._("") == ""
    assert language.plural("{count} day", "{count} days", 1) == "{count} 天"


def test_english_again(chinese):
    """English has no catalogue: what stands in the code is said."""
    language.use("en")
    assert language._("Example:") == "Example:"
    assert language.plural("{count} day", "{count} days", 2) == "{count} days"


@pytest.mark.parametrize("room", ["cli", "show"])
def test_what_a_person_reads_goes_through_the_catalogue(room):
    """No text of two words in the rooms that talk to people is outside of `_`, `plural`, `marked` and help texts."""
    unspoken = [
        f"{file.name}:{node.lineno}: {node.value!r}"
        for file in sorted((ROOT / "grader" / room).glob("*.py"))
        for node in literals(ast.parse(file.read_text(encoding="utf-8")))
        if WORDS.search(node.value) and not STYLE.fullmatch(node.value)
    ]
    assert unspoken == []


def literals(tree):
    """Yield the texts of a module that are neither docstrings nor handed to the catalogue."""
    spoken = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            spoken.add(node.value)
        if isinstance(node, ast.Dict):
            spoken.update(node.keys)  # words of our own that are looked up
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPOKEN
        if is_call or (isinstance(node, ast.keyword) and node.arg in {"help", "short_help"}):
            spoken.update(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in spoken:
            yield node
