"""Which cases are looked at where mistakes are sought: few, and those that show one mistake at a time first."""

# torch has classes without annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from torch.utils._python_dispatch import TorchDispatchMode

from grader.judge.exchange.results import built_as
from grader.judge.runs.outcome import CaseOutcome, Run, failed_after
from grader.judge.runs.recording import Recording

FAILING_PER_FAMILY: Final = 4
"""So many failing cases of each family are looked at where one mistake is sought."""
PASSING_PER_FAMILY: Final = 3
"""So many that passed, and may contradict it."""
MOST_FOR_PAIRS: Final = 6
"""So many failing cases are looked at when two mistakes are sought."""
MOST_IN_PART: Final = 40
"""So many failing cases, and as many derived from them, are looked at where each mistake explains a part of them."""
MOST_UNEXPLAINED: Final = 1 / 3
"""Where more of the cases are left, what fits in the others may be a coincidence of sizes."""
OF_SIZES: Final = frozenset(("value", "error"))
"""Groups of failures in which that may be."""
HIDING: Final = (("parameters", "no-error"), ("parameters", "no-error", "error"))
"""Groups of failures behind which nothing else shows: layers are others, a check lacks; or something is raised."""
MOST_CONTRADICTING: Final = 16
"""So many passing cases of its family are held against a mistake that fits as well as another one."""
MOST_CALLS: Final = 16
"""A case that asks for more shows whatever is wrong: that one mistake does not do all of it says nothing against it."""


def order(case: CaseOutcome) -> tuple[bool, bool, bool]:
    """First what is not derived, and of this what asked the same of every answer: mistakes remember that.

    What asks for many things at once shows several mistakes together, where others show one.
    """
    return case.family != case.case.family, asks_for_much(case), case.check is not None and case.check.looked


def asks_for_much(case: CaseOutcome) -> bool:
    """Whether a case makes so many calls that several mistakes show in it together."""
    check = case.evidence.checked
    return check is not None and len(check.exchanges) > MOST_CALLS


def is_in_the_open(case: CaseOutcome, hiding: tuple[str, ...]) -> bool:
    """Whether a case does not fail in one of some groups, behind what is returned either."""
    check = case.evidence.checked
    replies = [exchange.reply["kind"] for exchange in check.exchanges if exchange.settled] if check is not None else []
    return case.failure is not None and case.failure.group not in hiding and not set(hiding) & set(replies)


def first_of_each_family(cases: list[CaseOutcome], most: int) -> list[CaseOutcome]:
    """Leave at most so many cases of each family, in their order."""
    by_family = groupby(sorted(cases, key=lambda case: case.family), key=lambda case: case.family)
    chosen = [case for _family, family in by_family for case in list(family)[:most]]
    return [case for case in cases if case in chosen]


def looked_at_first(runs: list[Run], recordings: list[Recording]) -> list[Recording]:
    """Return the runs that are looked at first when an answer fails all of its cases, as they were recorded."""
    found: dict[str, list[Recording]] = {}
    for run in sorted(runs, key=lambda run: not run.is_main):
        recording = recordings[run.number - 1]
        if recording.is_straight and 0 < len(recording.exchanges) <= MOST_CALLS:
            found.setdefault(run.outcome.family, []).append(recording)
    return [recording for family in found.values() for recording in family[:FAILING_PER_FAMILY]]


def roots_of(failing: list[CaseOutcome]) -> list[CaseOutcome]:
    """Return cases that fail for reasons of their own, families in turn, none derived from one that fails."""
    failed = {case.case.stream for case in failing if case.family == case.case.family}
    roots = [case for case in failing if case.family == case.case.family or case.case.stream not in failed]
    roots = [case for case in roots if not asks_for_much(case)] or roots  # it takes long, and shows all at once
    roots, in_turn = sorted(roots, key=order), list[CaseOutcome]()
    while len(in_turn) < min(len(roots), MOST_FOR_PAIRS):
        in_turn += first_of_each_family([case for case in roots if case not in in_turn], 1)
    return in_turn[:MOST_FOR_PAIRS]


def entry_of(case: CaseOutcome) -> str:
    """Return what was called where a case fails: a function, or the class of a module; empty where nobody knows."""
    settled, check = failed_after(case), case.check
    if not settled or check is None:
        return ""
    header = settled[-1].header
    entry: str = header.get("entry") or built_as(check.exchanges, header["handle"])
    return entry


def by_entry(failing: list[CaseOutcome]) -> list[list[CaseOutcome]]:
    """Part failing cases by what was called: of a file with several functions each may have a mistake of its own."""
    found: dict[str, list[CaseOutcome]] = {}
    for case in failing:
        found.setdefault(entry_of(case), []).append(case)
    return list(found.values())


def in_order(failing: list[CaseOutcome]) -> tuple[list[CaseOutcome], list[CaseOutcome]]:
    """Return failing cases as they are written, and of those that are derived as many."""
    written = [case for case in failing if case.family == case.case.family] or failing
    derived = [case for case in failing if case not in written]
    return written[:MOST_IN_PART], derived[:MOST_IN_PART]


def operations_of(case: CaseOutcome) -> int:
    """Return how many operations of tensors the reference takes for what was asked in a case."""
    check = case.evidence.checked
    counter = _Operations()
    if check is None:
        return 0
    try:
        with counter:
            for exchange in check.exchanges:
                check.reference(exchange)
    except Exception:  # noqa: BLE001 - it was to raise: so many it took until then
        return counter.count
    finally:
        check.grading.reference.release(check.handles)
    return counter.count


class Room:
    """Room for trying several mistakes together, in operations of tensors: cases may be long."""

    def __init__(self, most: int) -> None:
        """``most``: so many operations in all."""
        self._left, self._counted = most, dict[CaseOutcome, int]()

    def has_for(self, case: CaseOutcome) -> bool:
        """Whether there is room for one more try, which does at least this case."""
        self._left -= self.operations(case)
        return self._left >= 0

    def operations(self, case: CaseOutcome) -> int:
        """Return how many operations the reference takes for a case."""
        if case not in self._counted:
            self._counted[case] = operations_of(case)
        return self._counted[case]


class _Operations(TorchDispatchMode):
    """Counts them."""

    count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # else the first operator imports PyTorch's compiler, which takes seconds
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        self.count += 1
        return func(*args, **(kwargs or {}))
