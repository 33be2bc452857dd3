"""What is asked together, in which order, where, and of a failed answer at all: pure decisions, at a table."""

from __future__ import annotations

import pytest

from grader.judge.runs.batches import (
    FEW_ARE_ENOUGH,
    OPERATIONS_TOGETHER,
    fails,
    few,
    order,
    parted,
    together,
)
from grader.judge.runs.outcome import Run
from grader.judge.runs.recording import Recording
from tests.judge.runs import failed, passed, recording_of, run_of


def numbers(pairs: list[tuple[Run, Recording]]) -> list[int]:
    """Return the numbers of runs."""
    return [run.number for run, _recording in pairs]


@pytest.mark.parametrize(
    ("repeats", "asked", "ahead"),
    [
        ([(), (), ()], [1, 2, 3], [1, 2, 3]),
        ([(), (1,), ()], [1, 2, 3], [1, 3]),
        ([(), (1, 3), ()], [1, 2, 3], [1, 3]),
        ([(), (1, 3), ()], [1, 2], [1, 2]),
        ([(), (1,), (1,)], [2, 3], [2, 3]),
        ([(2,), (), (2,)], [1, 2, 3], [2]),
    ],
    ids=[
        "nothing repeats",
        "one repeats one",
        "one repeats two",
        "half of it unasked",
        "none of it asked",
        "backwards",
    ],
)
def test_what_repeats_others_waits(repeats: list[tuple[int, ...]], asked: list[int], ahead: list[int]) -> None:
    """A run waits only where all the runs that show what it shows are asked for in this grading."""
    recordings = [recording_of(repeats=numbers_) for numbers_ in repeats]
    first, left = parted([run_of(number, f"case {number}") for number in asked], recordings)
    assert numbers(first) == ahead
    assert sorted(numbers(first) + numbers(left)) == asked


def test_the_order_of_what_is_asked() -> None:
    """What takes long to judge comes first, the device last, and what is alike stays in the order of the file."""
    runs = [run_of(1, "a"), run_of(2, "a", family="device"), run_of(3, "b"), run_of(4, "c"), run_of(5, "b", "device")]
    recordings = [recording_of(straight=number != 3) for number in range(1, 6)]
    recordings[4] = recording_of(straight=False)
    ahead, left = parted(runs, recordings)
    assert numbers(ahead) == [3, 1, 4, 5, 2]
    assert left == []
    assert [order(pair) for pair in ahead] == sorted(order(pair) for pair in ahead)


@pytest.mark.parametrize(
    ("main", "does"),
    [
        (None, False),
        (passed(run_of(1, "a")), False),
        (failed(run_of(1, "a")), True),
        (failed(run_of(1, "a"), "modified"), False),
        (run_of(1, "a"), True),
    ],
    ids=["not asked", "passed", "failed", "only its input is changed", "never ran"],
)
def test_a_case_whose_failure_shows_in_its_variants(main: Run | None, does: bool) -> None:
    """A changed input shows in its own run alone; whatever else fails does so in each variant."""
    assert fails(main) is does


@pytest.mark.parametrize("members", [1, 2, 3, 4, 7, 30])
def test_few_of_each_variant(members: int) -> None:
    """Of an answer that has failed at most three runs of a variant are asked for, and none is lost."""
    ready = [
        (run_of(number, f"case {number}", family=family, label=label), recording_of())
        for number, (family, label) in enumerate([("grad", ""), ("dtype", "float16")] * members, 1)
    ]
    chosen, others = few(ready, [], {})
    for variant in (("grad", ""), ("dtype", "float16")):
        assert 1 <= sum(run.variant == variant for run, _recording in chosen) <= FEW_ARE_ENOUGH
    assert sorted(numbers(chosen) + numbers(others)) == numbers(ready)


def test_the_few_are_of_cases_that_pass() -> None:
    """What fails itself, fails in its variants: asking there shows nothing new."""
    derived = [(run_of(number, f"case {number}", family="grad"), recording_of()) for number in (1, 2, 3)]
    mains = {f"test_case {number}()": passed(run_of(9 + number, f"case {number}")) for number in (1, 2, 3)}
    mains["test_case 1()"] = failed(run_of(10, "case 1"))
    chosen, others = few(derived, [], mains)
    assert numbers(chosen) == [2, 3]
    assert numbers(others) == [1]


def test_the_few_are_those_that_show_something_new() -> None:
    """Of a variant with runs that are asked ahead, those; of one that has none, of what is left."""
    ahead = [(run_of(1, "a", family="grad"), recording_of())]
    left = [
        (run_of(2, "b", family="grad"), recording_of()),
        (run_of(3, "a", family="dtype", label="float16"), recording_of()),
    ]
    chosen, others = few(ahead, left, {})
    assert numbers(chosen) == [1, 3]
    assert numbers(others) == [2]


@pytest.mark.parametrize(
    ("operations", "groups"),
    [
        ([1] * 10, [10]),
        ([OPERATIONS_TOGETHER, 1], [1, 1]),
        ([OPERATIONS_TOGETHER - 1, 1, 1], [2, 1]),
        ([10] * 7, [3, 3, 1]),
        ([], []),
    ],
)
def test_so_many_travel_together(operations: list[int], groups: list[int]) -> None:
    """A message is full with thirty operations; a run is never torn apart."""
    ready = [(run_of(number, "a"), recording_of(size)) for number, size in enumerate(operations, 1)]
    found = [pairs for _place, pairs in together(ready, lambda _run: "plain")]
    assert list(map(len, found)) == groups
    assert [number for pairs in found for number in numbers(pairs)] == numbers(ready)


def test_each_place_has_messages_of_its_own() -> None:
    """What goes to two workers is parted, and for each of them stays in order."""
    ready = [(run_of(number, "a"), recording_of()) for number in range(1, 8)]
    found = dict(together(ready, lambda run: run.number % 2))
    assert {place: numbers(pairs) for place, pairs in found.items()} == {1: [1, 3, 5, 7], 0: [2, 4, 6]}
