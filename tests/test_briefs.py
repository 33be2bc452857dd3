"""Briefs: their layout, their length, and that the numbers of their examples are the reference's."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

from __future__ import annotations

import itertools
import re
from functools import cache
from types import SimpleNamespace

import pytest

from grader import catalog
from grader.dev import briefs, byhand
from grader.text import cells

KATAS = catalog.katas()
MHA = catalog.find("mha")
FENCE = re.compile(r"```text\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module", autouse=True)
def _marks(pytestconfig: pytest.Config) -> None:
    """Know the marks of cases, which are loaded here without the judge."""
    for name in (*catalog.FAMILIES, "derive", "precise", "trains", "large"):
        pytestconfig.addinivalue_line("markers", f"{name}: see docs/writing-a-kata.md")


@cache
def facts_of(name: str) -> byhand.Facts:
    """Run the first case of a kata, once."""
    return byhand.facts_of(KATAS[name])


@pytest.mark.parametrize("name", KATAS)
def test_the_example_is_the_first_case(name):
    """What stands under "By hand" is what the reference computes in the kata's first case, in both languages."""
    assert list(byhand.problems(KATAS[name])) == []


@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("lang", briefs.BY_HAND)
@pytest.mark.parametrize("name", KATAS)
def test_no_digit_of_an_example_can_change(name, lang):
    """Whichever number of an example is changed, it is noticed."""
    brief = KATAS[name].brief(lang)
    unnoticed = [
        changed.splitlines()[line]
        for line, changed in changes(brief)
        if not list(byhand.disagreements(changed, facts_of(name)))
    ]
    assert unnoticed == []


def changes(brief: str):
    """Yield a brief with one digit of its example changed, and the line of that digit."""
    begin, end = (match.start() for match in list(re.finditer("^## ", brief, re.MULTILINE))[:2])
    for block in FENCE.finditer(brief, begin, end):
        place = block.start(1)
        for line in block[1].splitlines(keepends=True):
            for token in byhand.TOKEN.finditer(byhand.plain(line)):
                for digit in re.finditer(r"\d", token[0]):
                    at = place + token.start() + digit.start()
                    changed = brief[:at] + str((int(brief[at]) + 3) % 10) + brief[at + 1 :]
                    yield brief.count("\n", 0, at), changed
            place += len(line)


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("lang", briefs.BY_HAND)
@pytest.mark.parametrize("name", KATAS)
def test_no_line_is_too_wide(name, lang, width):
    """A task fits into 60 columns as into 100, and no line begins with what closes a phrase."""
    lines = briefs.rendered(KATAS[name].brief(lang), width)
    assert [line for line in lines if cells(line) > width] == []
    assert [line for line in lines if line.lstrip()[0] in "，。；：、！？）”"] == []


@pytest.mark.parametrize("name", KATAS)
def test_a_chinese_task_is_chinese(name, english):
    """No English sentence is left in a Chinese task, but for code and names."""
    assert english("\n".join(briefs.rendered(KATAS[name].brief("zh"), 80))) == []


def test_the_rules_fit_as_well():
    """What `kata help rules` shows fits into 60 columns, in both languages, with as many rows."""
    texts = [catalog.rules(lang) for lang in briefs.BY_HAND]
    assert len({sum(line.startswith("|") for line in text.splitlines()) for text in texts}) == 1
    for text in texts:
        assert [line for line in briefs.rendered(text, 60) if cells(line) > 60] == []


@pytest.mark.parametrize("name", KATAS)
def test_no_sentence_becomes_a_list(name):
    """No line in the midst of a paragraph begins as an item, a quotation or a heading does."""
    for page in sorted(KATAS[name].folder.glob("*.md")):
        lines = ["", *re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL).splitlines()]
        begins = [re.match(r" {0,3}([-+*>]|\d+[.)]|#+|=+$)( |$)", line) for line in lines]
        pairs = itertools.pairwise(zip(lines, begins, strict=True))
        assert [line for (before, item), (line, found) in pairs if before and not item and found] == [], page


BREACHES = {
    "where it must have": ("## Edge cases", "## Edges"),
    "does not name `kata help rules`": ("see `kata help rules`", "see there"),
    "does not name MultiHeadAttention": ("class MultiHeadAttention", "class Attention"),
    "more than 120": ("One head has", "One head " * 14 + "has"),
    "the drawing has 31 lines": (" │ W_q ", " │\n" * 18 + " │ W_q "),
    "lines to read": ("| `mask` is `(n,m)`", "| `mask` is one | of many |\n" * 12 + "| `mask` is `(n,m)`"),
    "more than 58": ("mask = [[T", "mask          " * 4 + " = [[T"),
    "the idea has": ("One head has", "One head\n" * 40 + "has"),
}


@pytest.mark.parametrize("problem", BREACHES)
def test_what_is_wrong_with_a_layout_is_named(problem):
    """Each rule of the layout that is broken is named, alone."""
    before, after = BREACHES[problem]
    brief = MHA.brief("en")
    assert before in brief
    found = list(briefs.layout_problems(brief.replace(before, after, 1), "en", MHA.entry))
    assert len(found) <= 2
    assert problem in found[0]


WRONG_NUMBERS = {
    "does not occur": ("output = [[.67,.33", "output = [[.67,.34"),
    "a result of call 1 is shown in part": ("output = [[.67,.33 | .33,.67],", "output = ["),
    "no result of call 1 is shown whole": (".67", "  "),
    "an input is shown in part": ("     [1,1 | 0,0]]", "                 "),
    "is not what the first case has": ("`d_model=4`", "`d_model=6`"),
}


@pytest.mark.parametrize("problem", WRONG_NUMBERS)
def test_what_is_wrong_with_an_example_is_named(problem):
    """A number that does not occur, a row left out, no result, a setting that is another one."""
    before, after = WRONG_NUMBERS[problem]
    assert before in MHA.brief("en")
    assert problem in "\n".join(byhand.disagreements(MHA.brief("en").replace(before, after), facts_of("mha")))


def test_of_a_wrong_line_the_wrong_number_is_named():
    """What occurs elsewhere is not blamed beside it; where all do, it is said that they do not stand so."""
    facts = byhand.Facts(results=[[(((5.0,), (2.0,)),)]])
    found = byhand.Paper([byhand.tokens("result = [[5], [3]]")]).left_over(facts)
    assert list(found) == ["3 in `5 3` does not occur in the first case"]
    found = byhand.Paper([byhand.tokens("result = [[2], [5]]")]).left_over(facts)
    assert list(found) == [f"{number} in `2 5` does not occur like this in the first case" for number in (2, 5)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x = [[1,0 | 0,1],   weights[h=0]", ["1", "0", "0", "1"]),
        ("[.67, -2.5, ·, -inf]   # 3 of 4", [".67", "-2.5", "·", "-inf"]),
        ("mask = [[True, F]]  pad_id=0  exp(2)", ["True", "F"]),
        ("第 3 个键 k3 → 0", ["3", "0"]),
    ],
)
def test_numbers_of_a_line(line, said):
    """Numbers and truth values count; indices, settings, comments and parts of names do not."""
    assert [token.text for token in byhand.tokens(line)] == said


def test_both_languages_have_the_same_numbers(monkeypatch):
    """What one language leaves out is noticed, although all that is left occurs."""
    fewer = MHA.brief("zh").replace("mask = [[T, T, F]]\n", "")
    both = SimpleNamespace(brief={"en": MHA.brief("en"), "zh": fewer}.__getitem__)
    facts = facts_of("mha")
    monkeypatch.setattr(byhand, "facts_of", lambda _kata: facts)
    assert list(byhand.problems(both)) == ["the numbers of the example differ between en and zh"]


def test_a_kata_without_an_example_is_told(monkeypatch):
    """Where the first case is another one, the author reads what it must be."""
    others = list(byhand.cases_of(MHA))[1:]
    monkeypatch.setattr(byhand, "cases_of", lambda _kata: iter(others))
    assert list(byhand.problems(MHA)) == ["the first case must be `def test_by_hand(check)`, of the family core"]


def test_a_brief_that_takes_too_long_is_found():
    """Three hundred words are read aloud in two minutes; code is looked at."""
    brief = MHA.brief("en")
    longer = brief.replace("\n\n", "\n\n" + "and so on " * 60, 1).replace("```text\n", "```text\nnot a word\n", 1)
    assert briefs.spoken(longer) == briefs.spoken(brief) + 180
    assert "read aloud, more than 300" in " ".join(briefs.layout_problems(longer, "en", MHA.entry))


@pytest.mark.parametrize("name", KATAS)
def test_the_page_of_lengths_is_true(name):
    """docs/briefs.md says of each task how long it is now, in both languages."""
    now = [number(KATAS[name].brief(lang)) for lang in briefs.BY_HAND for number in (briefs.length, briefs.spoken)]
    page = (catalog.content_root() / "docs" / "briefs.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
    assert [int(cell) for cell in row.strip("| ").split(" | ")[-4:]] == now
