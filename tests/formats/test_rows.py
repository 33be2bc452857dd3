"""Rows and points."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from grader.formats.rows import explanation, rows, total
from tests.formats.made import EVERY, FAILED, PASSED, UNLOADABLE, case, report, skipped

FAMILIES = ("core", "mask", "dtype", "grad", "device", "contract", "cost")


@pytest.mark.parametrize("points", [1, 7, 10, 100])
def test_a_pass_has_all_points(points: int) -> None:
    """Thirds and sevenths sum up to the whole."""
    assert sum(row.score for row in rows(PASSED, points)) == points
    assert total(rows(PASSED, points), 2) == f"{points}.00"


def test_what_has_not_passed_has_less() -> None:
    """Whatever failed, and however little: rounding gives nothing."""
    draw = random.Random(3)
    for _each in range(300):
        cases = [
            case(family, str(number), draw.choice(["passed"] * 9 + ["failed", "timeout", "crashed"]))
            for family in draw.sample(FAMILIES, draw.randint(1, 7))
            for number in range(draw.randint(1, 60))
        ]
        made = report(*cases)
        for points in (1, 10, 1000):
            whole = float(total(rows(made, points), 2))
            assert (whole == points) == (made["verdict"] == "passed")
            assert 0 <= whole <= points


def test_half_is_for_core_and_the_rest_waits_for_it() -> None:
    """An answer that computes nothing earns nothing for leaving its inputs alone."""
    nothing = report(case("core", "a", "failed"), *(case(family, "a") for family in FAMILIES[1:]))
    assert total(rows(nothing, 10), 2) == "0.00"
    assert "once core has passed" in rows(nothing, 10)[2].text
    core = report(case("core", "a"), *(case(family, "a", "failed") for family in FAMILIES[1:]))
    assert total(rows(core, 10), 2) == "5.00"
    half = report(case("core", "a"), case("core", "b", "failed"), case("mask", "a"))
    assert [row.score for row in rows(half, 8)] == [2, 0, 0]


def test_cases_that_did_not_run() -> None:
    """One that repeats a failure, or cannot run here, counts nowhere; one that was left out has not passed."""
    machine = report(case("core", "a"), skipped("device", "a", "machine"))
    assert machine["verdict"] == "passed"
    assert total(rows(machine, 10), 2) == "10.00"
    unasked = report(
        case("core", "a"), case("mask", "a", "failed"), case("dtype", "a"), skipped("dtype", "b", "unasked")
    )
    assert [row.score for row in rows(unasked, 8)] == [4, 0, 2]
    all_unasked = report(case("core", "a", "failed"), skipped("dtype", "a", "unasked"))
    assert [row.passed for row in rows(all_unasked, 8)] == [False, False, False]
    left = report(case("core", "a"), case("cost", "a"), skipped("cost", "b", "left-out"))
    assert [row.score for row in rows(left, 8)] == [4, 2]


def test_a_row_a_family_and_a_failed_core_case() -> None:
    """Not one for each case; without names of mistakes."""
    found = rows(FAILED, 10)
    assert [row.name for row in found] == ["core", "core: b", "mask", "dtype", "contract"]
    assert [row.is_case for row in found] == [False, True, False, False, False]
    assert found[1].text == "first wrong entry [0]\nmasked_softmax.py:5: weights = scores"
    assert not any("scale" in row.text for row in found)
    assert explanation(FAILED) == "This is what you get without the scale.\n→ divide\nRight up to line 5."


def test_a_file_that_does_not_load() -> None:
    """One row says it all, and all points are lost."""
    (row,) = rows(UNLOADABLE, 10)
    assert (row.passed, row.score, row.most) == (False, 0, 10)
    assert row.brief == "masked_softmax.py:3: SyntaxError: '(' was never closed"
    assert "return (" in row.text


@pytest.mark.parametrize("name", EVERY)
def test_texts_are_safe(name: str) -> None:
    """No control character of a learner's is left."""
    for row in rows(EVERY[name], 10):
        text = row.name + row.text + row.brief
        assert not any(ord(character) < 32 and character not in "\t\n" for character in text)
        assert isinstance(row.score, Fraction)
