"""The two READMEs: what is generated and what is typed is the same in both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import catalog
from grader.dev import check

ROOT = Path(__file__).resolve().parent.parent
READMES = {"en": (ROOT / "README.md").read_text("utf-8"), "zh": (ROOT / "README.zh.md").read_text("utf-8")}
NUMBERS = re.compile(r"(?<=\|) [\d/]* (?=\|)")


def generated(name: str, lang: str) -> list[str]:
    """Return the lines of a table that `kata dev check --all` writes."""
    found = re.search(rf"<!-- {name}:begin -->\n(.*?)\n<!-- {name}:end -->", READMES[lang], re.DOTALL)
    assert found, f"the README in {lang} has no place for {name}"
    return found[1].split("\n")


@pytest.mark.parametrize("lang", READMES)
def test_the_katas_of_the_readme(lang):
    """Each README lists the katas that there are, under the names of their tracks."""
    assert "\n".join(generated("katas", lang)) == check.course(catalog.katas().values(), lang)


def test_the_score_is_the_same():
    """Both READMEs have the same score, under a heading of their language."""
    english, chinese = generated("score", "en"), generated("score", "zh")
    assert english[1:-1] == chinese[1:-1]
    assert NUMBERS.findall(english[-1]) == NUMBERS.findall(chinese[-1])
    for lang, lines in (("en", english), ("zh", chinese)):
        empty = check.table([check.Score("one"), check.Score("two")], lang).split("\n")
        assert lines[:2] == empty[:2]
        assert lines[-1].split("|")[1] == empty[-1].split("|")[1]


def test_sections_commands_and_links_are_the_same():
    """Both READMEs have as many sections, the same commands to type and to read about, and the same links."""
    found = []
    for text in READMES.values():
        typed = [line for line in text.splitlines() if re.match(r" {4}(make|kata|pipx|uv|python3|~)", line)]
        commands = re.findall(r"^\| (`kata .*?) \|", text, re.MULTILINE)
        links = sorted(re.findall(r"\]\((?!README)(.+?)\)", text))
        found.append((text.count("\n## "), [line.split(" #")[0].rstrip() for line in typed], commands, links))
    assert found[0] == found[1]
    assert "](README.zh.md)" in READMES["en"]
    assert "](README.md)" in READMES["zh"]
