"""Which two mistakes may do together what an answer did, as far as each of the two by itself can tell.

There are thousands of pairs in a bank, and each that is tried is a file to be loaded and calls to be made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grader.judge.contract import Grading
from grader.judge.explain.mistakes import Mistake
from grader.judge.explain.reproduce import MistakeRunner, passes, raises_alike, reproduces
from grader.judge.runs.outcome import CaseOutcome

MOST_INTERACTING: Final = 60
"""So many pairs are tried of which one shows in a case that it passes by itself."""


class Alone:
    """What one mistake does by itself, in the cases at which two are looked for and in some that passed."""

    def __init__(self, grading: Grading, run: MistakeRunner, roots: list[CaseOutcome], fine: list[CaseOutcome]) -> None:
        self._passes = [passes(grading, run, case) for case in roots]
        self._does_it = [reproduces(grading, run, case) for case in roots]
        self._raises = [raises_alike(grading, run, case) for case in roots]
        self._elsewhere = [passes(grading, run, case) for case in fine]

    def may_do_it_with(self, other: Alone) -> bool:
        """Whether two may do together what the answer did: beside one that passes a case the other does it there."""
        return self.may_interact_with(other) and all(
            (does or not theirs) and (same or not mine)
            for mine, does, theirs, same in zip(self._passes, self._does_it, other._passes, other._does_it, strict=True)
        )

    def may_interact_with(self, other: Alone) -> bool:
        """Whether it is not out of the question.

        Two that both pass a case pass it together, one that fails a case does so beside one that passes it, and what no
        tensor's size is to blame for is raised by one of them alone.
        """
        both = zip(self._passes, other._passes, strict=True)
        raised = zip(self._raises, other._raises, strict=True)
        return (True, True) not in both and self._elsewhere == other._elsewhere and (False, False) not in raised


def alone(
    grading: Grading, singles: list[tuple[Mistake, MistakeRunner]], roots: list[CaseOutcome], fine: list[CaseOutcome]
) -> dict[str, Alone]:
    """Return what each mistake does by itself in failing cases and in ``fine`` ones that passed, by its id."""
    return {mistake.id: Alone(grading, run, roots, fine) for mistake, run in singles}


def conceivable(
    pairs: Iterator[tuple[Mistake, Mistake]], by_itself: dict[str, Alone]
) -> Iterator[tuple[Mistake, Mistake]]:
    """Yield the pairs that may do what the answer did.

    Those come last of which one passes a case and brings out something else there beside the other.
    """
    beside: list[tuple[Mistake, Mistake]] = []
    for pair in pairs:
        one, two = (by_itself[mistake.id] for mistake in pair)
        if one.may_do_it_with(two):
            yield pair
        elif len(beside) < MOST_INTERACTING and one.may_interact_with(two):
            beside.append(pair)
    yield from beside
