"""Planting mistakes: which fit together, which is drawn, and how they are taken out again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalog
from grader.debug.plant import Planted, plant, sound_text
from grader.dev.files import problems
from grader.errors import TooFewMistakes

REFERENCE = '''\
"""Sums."""

import math


def total(x):
    """x and 1, 2 and 3."""
    a = x + 1  # one
    b = a + 2
    c = b + math.prod([3])
    return c
'''
STUB = '"""Sums."""\n\n\ndef total(x):\n    """Return the total."""\n    raise NotImplementedError\n'


def entry(name: str, *edits: tuple[str, str], family: str = "core") -> str:
    """Return an entry of a bank."""
    pairs = ", ".join(f"{{ find = {json.dumps(find)}, replace = {json.dumps(new)} }}" for find, new in edits)
    texts = "".join(f'{key} = {{ en = "{key} of {name}", zh = "{name}" }}\n' for key in ("title", "explain", "nudge"))
    return f'[[mistake]]\nid = "{name}"\nfamily = "{family}"\nedits = [{pairs}]\n{texts}\n'


@pytest.fixture
def kata(tmp_path):
    """Return a function that makes a kata with these entries in its bank."""

    def make(*entries: str) -> catalog.Kata:
        for name, text in {"reference.py": REFERENCE, "mistakes.toml": "".join(entries), "stub.py": STUB}.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return replace(catalog.find("mha"), id="sums", folder=Path(tmp_path), solution=Path(tmp_path))

    return make


ONE = entry("one", ("x + 1", "x + 9"))
TWO = entry("two", ("a + 2", "a + 8"))
THREE = entry("three", ("math.prod([3])", "7"))
ALSO_ONE = entry("also-one", ("a = x + 1", "a = x - 1"))
BOTH = entry("both", ("x + 1", "x"), ("a + 2", "a"))


def test_a_planted_file_holds_the_mistake_and_nothing_else(kata):
    """The lines of the mistake are in it, comments and an import that is left over are not."""
    planted = plant(kata(THREE), 1, 0)
    assert planted.source == (
        '"""Sums."""\n\n\ndef total(x):\n    """Return the total."""\n'
        "    a = x + 1\n    b = a + 2\n    c = b + 7\n    return c\n"
    )
    ((change,),) = [found.changes for found in planted.plants]
    assert (change.line, change.planted, change.sound) == (8, ("    c = b + 7",), ("    c = b + math.prod([3])",))
    assert planted.source.splitlines()[change.line - 1] == change.planted[0]


def test_several_stand_from_top_to_bottom(kata):
    """Each with its own lines, whatever order they were drawn in."""
    planted = plant(kata(THREE, TWO, ONE), 3, 4)
    assert [(found.id, found.changes[0].line) for found in planted.plants] == [("one", 6), ("two", 7), ("three", 8)]
    assert planted.sound == sound_text(kata(THREE, TWO, ONE))


def test_what_shares_a_line_is_never_planted_together(kata):
    """Two mistakes of one line, and one that takes the lines of two others."""
    for seed in range(30):
        together = {found.id for found in plant(kata(ONE, ALSO_ONE, BOTH, TWO, THREE), 2, seed).plants}
        assert together not in ({"one", "also-one"}, {"one", "both"}, {"also-one", "both"}, {"two", "both"})


def test_lines_that_are_taken_out_stand_alone(kata):
    """Where two gaps meet, nobody could tell them apart."""
    first, second = entry("first", ("    a = x + 1  # one\n", "")), entry("second", ("    b = a + 2\n", ""))
    with pytest.raises(TooFewMistakes, match="at most 1 at once"):
        plant(kata(first, second), 2, 0)
    assert len(plant(kata(first, THREE), 2, 0).plants) == 2


def test_as_many_as_fit_are_found(kata):
    """The mistake that stands in the way of two others is left out where that is what it takes."""
    for seed in range(10):
        assert "both" not in [found.id for found in plant(kata(BOTH, ONE, TWO, THREE), 3, seed).plants]


def test_too_many_are_refused_with_the_numbers(kata):
    """The sentence says how many there are and how many fit together."""
    with pytest.raises(TooFewMistakes, match="sums has 4 mistakes that can be planted, at most 3 at once: 4 are too"):
        plant(kata(BOTH, ONE, TWO, THREE), 4, 0)
    with pytest.raises(TooFewMistakes, match="sums has 0 mistakes that can be planted, at most 0 at once: 1 are too"):
        plant(kata(), 1, 0)


def test_a_kata_whose_own_round_cannot_be_planted():
    """`kata dev check` says so."""
    found = list(problems(replace(catalog.find("split-heads"), bugs=99)))
    assert any(text.endswith("at once: 99 are too many.") for text in found)


def test_edits_that_meet_though_their_lines_do_not(kata):
    """A mistake whose text another one writes a second time does not go with it, whatever the order."""
    writes = entry("an-a", ("x + 1", "x + len('a + 2')"))
    for seed in range(5):
        with pytest.raises(TooFewMistakes, match="sums has 2 mistakes that can be planted, at most 1 at once"):
            plant(kata(writes, TWO), 2, seed)
        assert [found.id for found in plant(kata(writes, TWO, THREE), 2, seed).plants][1] == "three"


def test_a_line_that_one_mistake_makes_needless(kata):
    """It goes with that mistake, and no other one can change it."""
    unread = entry("unread", ("b = a + 2", "b = x + 2"))
    assert "a = x + 1" not in plant(kata(unread), 1, 0).source
    with pytest.raises(TooFewMistakes, match="at most 1 at once"):
        plant(kata(unread, ONE), 2, 0)


def test_what_only_some_machines_see_is_not_planted(kata):
    """The family of the second device may be skipped; a line too long and a name that nobody reads show at a glance."""
    wide = entry("wide", ("return c", "return " + " + ".join(["c"] * 40)))
    grey = entry("grey", ("return c", "d, e = c, c\n    return d"))
    with pytest.raises(TooFewMistakes, match="sums has 1 mistake that can be planted"):
        plant(kata(entry("elsewhere", ("a + 2", "a + 3"), family="device"), wide, grey, ONE), 2, 0)


def test_a_mistake_in_a_comment_is_none(kata):
    """An entry that changes nothing but what is taken out cannot be planted."""
    with pytest.raises(TooFewMistakes, match="sums has 1 mistake"):
        plant(kata(entry("comment", ("# one", "# two")), ONE), 2, 0)


def test_the_seed_decides(kata):
    """Equal seeds give equal files; the order of the bank does not matter; other seeds give others."""
    files = [plant(kata(ONE, TWO, THREE), 1, seed).source for seed in range(20)]
    assert files == [plant(kata(THREE, ONE, TWO), 1, seed).source for seed in range(20)]
    assert len(set(files)) == 3


def test_a_planted_file_goes_through_json(kata):
    """What the history stores is what was planted."""
    planted = plant(kata(ONE, TWO, THREE), 2, 1)
    assert Planted.read(json.loads(json.dumps(planted.document()))) == planted


def test_which_mistakes_are_still_there(kata):
    """Their lines decide, beside what stands above or below; other lines may have been changed."""
    planted = plant(kata(ONE, TWO, THREE), 3, 0)
    source = planted.source
    assert planted.left_in(source) == list(planted.plants)
    assert [one.id for one in planted.left_in(source.replace("b = a + 8", "b = a + 2"))] == ["one", "three"]
    assert [one.id for one in planted.left_in(source.replace("return c", "return c + 0"))] == ["one", "two", "three"]
    assert planted.left_in(planted.sound) == planted.left_in("") == []


def test_lines_that_were_taken_away_or_moved(kata):
    """They are missed where they were, and found where they do not belong."""
    gone = plant(kata(entry("gone", ("    b = a + 2\n    c = b", "    c = a"))), 1, 0)
    moved = plant(
        kata(entry("moved", ("    a = x + 1  # one\n", ""), ("    return c", "    a = x + 1\n    return c"))), 1, 0
    )
    for planted in (gone, moved):
        assert planted.left_in(planted.source) == list(planted.plants)
        assert planted.left_in(planted.sound) == []
