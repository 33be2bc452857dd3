"""Which two mistakes may do together what an answer did, as far as each of the two by itself can tell.

There are thousands of pairs in a bank, and each that is tried is a file to be loaded and calls to be made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, zip_longest
from typing import Final

from grader.judge.contract import Grading
from grader.judge.explain.few import PASSING_PER_FAMILY, first_of_each_family
from grader.judge.explain.mistakes import Mistake
from grader.judge.explain.reproduce import MistakeRunner, passes, raises_alike, reproduces
from grader.judge.runs.outcome import CaseOutcome

MOST_INTERACTING: Final = 60
"""So many pairs are tried of which one shows in a case that it passes by itself."""


@dataclass(frozen=True, slots=True)
class Alone:
    """What one mistake does by itself, in the cases at which two are looked for and in some that passed."""

    passes: list[bool | None]
    """Whether it passes each of these cases at a glance; None where that takes more."""
    does_it: list[bool]
    """Whether it does what the answer did."""
    raises: list[bool | None]
    """Whether it raises what the answer did; None where that may be a matter of sizes."""
    elsewhere: list[bool | None]
    """Whether it passes each of the cases that passed."""

    def may_do_it_with(self, other: Alone) -> bool:
        """Whether two may do together what the answer did: beside one that passes a case the other does it there."""
        return self.may_interact_with(other) and all(
            (does or not theirs) and (same or not mine)
            for mine, does, theirs, same in zip(self.passes, self.does_it, other.passes, other.does_it, strict=True)
        )

    def may_interact_with(self, other: Alone) -> bool:
        """Whether it is not out of the question.

        Two that both pass a case pass it together, one that fails a case does so beside one that passes it, and what no
        tensor's size is to blame for is raised by one of them alone.
        """
        both = zip(self.passes, other.passes, strict=True)
        raised = zip(self.raises, other.raises, strict=True)
        return (True, True) not in both and self.elsewhere == other.elsewhere and (False, False) not in raised


Pairs = Iterator[tuple[Mistake, Mistake]]
ByItself = Callable[[str], Alone]
"""What a mistake does by itself, by its id."""


def pairs_with(likely: list[Mistake], every: list[Mistake]) -> Pairs:
    """Yield the pairs with a mistake that fits in part."""
    return ((a, b) for a in likely for b in every if a is not b)


def pairs_without(likely: list[Mistake], every: list[Mistake], families: set[str]) -> Pairs:
    """Yield the pairs of which neither does: of those of all the families that fail and of the others in turn.

    A bank begins with what is made most often, so that of each the two that stand first are tried first.
    """
    others = [(at, mistake) for at, mistake in enumerate(every) if mistake not in likely]
    alike: dict[int, list[tuple[Mistake, Mistake]]] = {}
    for (_at, first), (_other, second) in sorted(combinations(others, 2), key=lambda two: two[0][0] + two[1][0]):
        alike.setdefault(len(families & {first.family, second.family}), []).append((first, second))
    in_turn = zip_longest(*(alike[shared] for shared in sorted(alike, reverse=True)))
    return (pair for row in in_turn for pair in row if pair is not None)


def alone(
    grading: Grading, singles: list[tuple[Mistake, MistakeRunner]], roots: list[CaseOutcome], plain: list[CaseOutcome]
) -> ByItself:
    """Return what finds out, once, what a mistake does by itself in failing cases and in a few that passed."""
    at_a_glance = [case for case in plain if case.evidence.is_accepted_at_a_glance]
    fine = first_of_each_family(at_a_glance, PASSING_PER_FAMILY)
    runs = {mistake.id: run for mistake, run in singles}

    @cache
    def by_itself(name: str) -> Alone:
        run = runs[name]
        return Alone(
            [passes(grading, run, case) for case in roots],
            [reproduces(grading, run, case) for case in roots],
            [raises_alike(grading, run, case) for case in roots],
            [passes(grading, run, case) for case in fine],
        )

    return by_itself


def conceivable(pairs: Iterator[tuple[Mistake, Mistake]], by_itself: ByItself) -> Iterator[tuple[Mistake, Mistake]]:
    """Yield the pairs that may do what the answer did.

    Those come last of which one passes a case and brings out something else there beside the other.
    """
    beside: list[tuple[Mistake, Mistake]] = []
    for pair in pairs:
        one, two = (by_itself(mistake.id) for mistake in pair)
        if one.may_do_it_with(two):
            yield pair
        elif len(beside) < MOST_INTERACTING and one.may_interact_with(two):
            beside.append(pair)
    yield from beside
