"""The bank of mistakes: what applies, and errors that name file and entry."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from grader import catalog
from grader.errors import BadKataFile
from grader.judge.explain.mistakes import load, shared

GOOD = """
[[mistake]]
id = "trebled"
family = "core"
edits = [{ find = "2.0", replace = "3.0" }]
title = { en = "trebled", zh = "三倍" }
explain = { en = "Three times.", zh = "三倍。" }
nudge = { en = "how often?", zh = "几倍呢" }
"""


def test_a_mistake(make_kata) -> None:
    """It is the reference with its replacements."""
    kata = make_kata(mistakes=GOOD)
    (mistake,) = load(kata)
    assert (mistake.id, mistake.family, mistake.title["zh"]) == ("trebled", "core", "三倍")
    assert mistake.applied_to(kata.reference()) == kata.reference().replace("2.0", "3.0")
    assert load(make_kata(mistakes="")) == []


def test_several_edits_follow_each_other(make_kata) -> None:
    """An edit is looked for in what the ones before it made."""
    kata = make_kata(mistakes=GOOD.replace("}]", '}, { find = "3.0", replace = "4.0" }]'))
    assert "factor=4.0" in load(kata)[0].applied_to(kata.reference())


@pytest.mark.parametrize(("find", "count"), [("not there", 0), ("doubled", 4)])
def test_edits_fit_once(make_kata, find: str, count: int) -> None:
    """What occurs never or several times is refused with the number."""
    kata = make_kata(mistakes=GOOD.replace("2.0", find))
    with pytest.raises(ValueError, match=f"mistake trebled: '{find}' occurs {count} times in the reference, not once"):
        load(kata)[0].applied_to(kata.reference())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('id = "trebled"', "", "mistake 1 has no id"),
        ('id = "trebled"', "id = 3", "mistake 1 has no id"),
        ('"core"', '"cores"', "trebled.family must be one of core mask"),
        ("edits", "edit", "trebled.edits must be a list"),
        ("find", "search", "trebled.edits each edit has the two texts"),
        ('"3.0"', "3.0", "trebled.edits each edit has the two texts"),
        (', zh = "三倍" }', " }", "trebled.title needs a text in en and in zh"),
        ('"Three times."', '" "', "trebled.explain needs a text in en and in zh"),
        ("nudge", "hint", "trebled.nudge needs a text in en and in zh"),
        ("family", "note = 1\nfamily", "trebled.note is not a key of a mistake"),
        ("[[mistake]]", GOOD + "[[mistake]]", "trebled stands there twice"),
        ("[[mistake]]", "[[mistake]", "mistakes.toml"),
    ],
)
def test_errors(make_kata, old: str, new: str, says: str) -> None:
    """An error names the file, the entry and the key."""
    kata = make_kata(mistakes=GOOD.replace(old, new, 1))
    with pytest.raises(BadKataFile) as raised:
        load(kata)
    found = raised.value.in_one_line()
    assert "mistakes.toml" in found
    assert all(word in found for word in says.split()), found


def test_no_bank(make_kata) -> None:
    """A missing file is an error too."""
    kata = make_kata()
    (kata.solution / "mistakes.toml").unlink()
    with pytest.raises(BadKataFile):
        load(kata)


SHARED = """
[many]
title = { en = "too many", zh = "太多" }
explain = { en = "More than two.", zh = "多于两个。" }
nudge = { en = "how many?", zh = "有几个呢" }
"""
SHARING = GOOD[: GOOD.index("title")] + 'same_as = "many"\n'


@pytest.fixture
def sharing(make_kata):
    """A function that reads a bank beside shared texts."""

    def read(bank: str, texts: str):
        kata = make_kata(mistakes=bank)
        (kata.solution.parent / "shared_mistakes.toml").write_text(texts)
        return load(kata)

    return read


def test_texts_can_be_shared(sharing) -> None:
    """What several banks say in the same words stands in one place, in both languages."""
    (mistake,) = sharing(SHARING, SHARED)
    assert (mistake.title["zh"], mistake.explain["en"], mistake.nudge["en"]) == ("太多", "More than two.", "how many?")


@pytest.mark.parametrize(
    ("bank", "texts", "file", "says"),
    [
        (SHARING.replace('"many"', '"few"'), SHARED, "/mistakes.toml", "trebled.same_as: 'few' is no name in shared"),
        (SHARING.replace('"many"', "3"), SHARED, "/mistakes.toml", "trebled.same_as: 3 is no name in shared"),
        (GOOD + 'same_as = "many"', SHARED, "/mistakes.toml", "trebled.explain: stands beside same_as"),
        (SHARING, SHARED.replace("nudge", "hint"), "/shared_mistakes.toml", "many: must have title, explain, nudge"),
        (SHARING, SHARED.replace(', zh = "太多"', ""), "/shared_mistakes.toml", "many.title: needs a text in en and"),
        (SHARING, "[many", "/shared_mistakes.toml", "Expected ']'"),
    ],
)
def test_errors_of_shared_texts(sharing, bank: str, texts: str, file: str, says: str) -> None:
    """An error names the file that has to be changed, and the key."""
    with pytest.raises(BadKataFile) as raised:
        sharing(bank, texts)
    found = raised.value.in_one_line()
    assert file in found
    assert says in found


def test_no_two_mistakes_say_the_same() -> None:
    """Words that a second bank needs are moved to the shared ones; and what is shared, two banks say at least."""
    banks = [
        tomllib.loads((kata.solution / "mistakes.toml").read_text())["mistake"] for kata in catalog.katas().values()
    ]
    own = [str([m["title"], m["explain"], m["nudge"]]) for bank in banks for m in bank if "same_as" not in m]
    used = Counter(m["same_as"] for bank in banks for m in bank if "same_as" in m)
    assert [text for text, times in Counter(own).items() if times > 1] == []
    assert set(used) == set(shared(catalog.content_root() / "solutions" / "shared_mistakes.toml"))
    assert min(used.values()) > 1
