"""The levels of derived runs: every pair of them in a grading's arrays, each case as it is written, no run more."""

from __future__ import annotations

import itertools
import random

import pytest

from grader import catalog
from grader.catalog import FAMILIES
from grader.judge.cases.case import Case, variants_of
from grader.judge.cases.levels import FACTORS, TITLES, UNRECORDED, covering, described, drawn
from grader.judge.cases.variant import LevelSet
from grader.judge.runs.isolation import smallest
from tests.judge.runs import no_case

LEVELS = {level for levels in FACTORS.values() for level in levels if level}


def cases_of(
    seed: int, cases: int = 40, without: tuple[str, ...] = (), families: tuple[str, ...] = FAMILIES
) -> list[list]:
    """Return the variants of so many cases with their levels."""
    case = Case("test_a", "", "", "core", 0, no_case)
    return list(drawn((variants_of(case, families) for _case in range(cases)), seed, without))


@pytest.mark.parametrize("fewer", [0, 1, 2])
@pytest.mark.parametrize("seed", [0, 7])
def test_every_pair_of_levels_occurs_in_an_array(seed: int, fewer: int) -> None:
    """Whatever two levels of two factors: some row has both, also where a factor or some levels are left out."""
    factors = {name: levels[: max(1, len(levels) - fewer)] for name, levels in [*FACTORS.items()][fewer:]}
    rows = covering(tuple(factors.items()), random.Random(seed))
    for (one, these), (two, those) in itertools.combinations(factors.items(), 2):
        assert {(row[one], row[two]) for row in rows} == set(itertools.product(these, those))


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_levels_occur_in_each_variant(seed: int) -> None:
    """Forty cases have every layout behind every earlier call, in gradients, bfloat16, float16 and on the device."""
    for label in (("grad", ""), ("dtype", "bfloat16"), ("dtype", "float16"), ("device", "")):
        runs = [v for variants in cases_of(seed) for v in variants[1:] if (v.family, v.label) == label]
        met = {pair for run in runs for pair in itertools.combinations(run.levels, 2)}
        layouts = [("layout", level) for level in FACTORS["layout"][1:]]
        before = [("before", level) for level in FACTORS["before"][1:]]
        assert set(itertools.product(layouts, before)) <= met


def test_the_case_itself_stays_plain_and_no_run_is_added() -> None:
    """What people read has no level, nor has the contract, which is read off it."""
    case = Case("test_a", "", "", "core", 0, no_case)
    for variants in cases_of(3):
        assert [(v.family, v.label) for v in variants] == [(v.family, v.label) for v in variants_of(case, FAMILIES)]
        assert all(v.levels == () for v in variants if v.family in ("core", "contract"))
        values, gradients = (v for v in variants if v.dtype.itemsize == 8)
        assert values.levels == gradients.levels


def test_seven_cases_in_a_row_meet_all_layouts() -> None:
    """Each variant goes through the layouts in turns: a kata with few cases has them all."""
    for label in (("grad", ""), ("dtype", "bfloat16"), ("device", "")):
        runs = [v for variants in cases_of(8) for v in variants[1:] if (v.family, v.label) == label]
        met = [dict(run.levels).get("layout", "") for run in runs]
        assert all(set(met[start : start + 7]) == set(FACTORS["layout"]) for start in range(0, 35, 7))


@pytest.mark.parametrize(
    ("derives", "all_of_them"),
    [(("grad",), True), (("grad", "device"), True), (("grad", "device", "contract"), False), (None, False)],
)
def test_a_case_that_is_there_for_its_gradients_asks_for_all(
    derives: tuple[str, ...] | None, all_of_them: bool
) -> None:
    """What sizes that people run, say, have to show may lie in any gradient: no seed may leave it out."""
    case = Case("test_a", "", "", "core", 0, no_case, derives)
    runs = [v for variants in drawn([variants_of(case, FAMILIES)] * 30, 5) for v in variants if v.family == "grad"]
    assert len(runs) == 30
    assert all("asks" not in dict(run.levels) for run in runs) is all_of_them


def test_a_seed_draws_the_same_again() -> None:
    """The levels are the seed's: whoever repeats it gets them again, another seed others."""
    assert cases_of(1) == cases_of(1)
    assert cases_of(1) != cases_of(2)


def test_an_object_that_comes_twice_is_one_in_each_family() -> None:
    """It is told apart in float16 only, as views and as clones: what hangs on it being one is seen everywhere else."""
    cases = cases_of(5)
    for variants in cases:
        ways = {(v.family, v.label): dict(v.levels).get("identity", "") for v in variants[1:]}
        assert {name for name, way in ways.items() if way} == {("dtype", "float16")}
    met = [dict(v.levels).get("identity") for variants in cases for v in variants if v.label == "float16"]
    assert all({one, two} == {"views", "clones"} for one, two in itertools.pairwise(met))


def test_a_default_device_hides_no_bug() -> None:
    """One case has it, the first: what is made on the wrong device is seen in all the others."""
    runs = [v for variants in cases_of(6) for v in variants if v.family == "device"]
    assert [("caller", "device") in run.levels for run in runs] == [True] + [False] * (len(runs) - 1)


def test_a_kata_may_leave_a_level_out() -> None:
    """A level that a kata does without is in none of its runs."""
    runs = [v for variants in cases_of(4, without=("reversed",)) for v in variants]
    assert not any(("layout", "reversed") in run.levels for run in runs)


def test_katas_leave_out_levels_that_there_are() -> None:
    """What kata.toml leaves out has a name among the levels."""
    for kata in catalog.katas().values():
        assert set(kata.without) <= LEVELS


def test_every_level_has_words() -> None:
    """A reader gets a sentence for each level."""
    levels = {(factor, level) for factor, many in FACTORS.items() for level in many if level}
    assert {*levels, ("gradients", UNRECORDED)} == set(TITLES)
    assert all(described([level]) for level in sorted(levels))


A, B, C = ("layout", "wider"), ("before", "inputs"), ("mode", "train")


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (lambda _levels: True, ()),
        (lambda levels: B in levels, (B,)),
        (lambda levels: A in levels and C in levels, (A, C)),
        (lambda levels: len(levels) == 3, (A, B, C)),
    ],
)
def test_the_smallest_failing_set(fails, expected: LevelSet) -> None:
    """Levels that may be plain without making the case pass are not named."""
    assert smallest((A, B, C), fails) == expected
