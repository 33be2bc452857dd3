"""Two results of the answer that have to agree: stated by a case, looked at when both are in.

Nobody has to wait for the results in order to state it, so that a case which does only this asks the same of every
answer (see :mod:`grader.judge.runs.plan`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.judge.exchange.compare import agree, same_bits
from grader.transport.wire import Tree

Path = tuple[int | str, ...]
Place = tuple[int, Path]
"""The number of an operation in its run, and where in its result."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a case says of two results; ``after`` so many operations of its run it is looked at.

    ``exact``: bit for bit, else within the tolerance of their dtype.
    """

    first: Place
    second: Place
    exact: bool
    sentence: str
    after: int

    def holds(self, value_of: Callable[[int], Tree]) -> bool:
        """Whether it is so. ``value_of`` returns what an operation of the run returned."""
        first, second = (at(value_of(index), path) for index, path in (self.first, self.second))
        return (same_bits if self.exact else agree)(first, second)


def at(value: Tree, path: Path) -> Tree:
    """Return a part of a result; None where there is no result."""
    for index in path:
        if value is None:
            return None
        value = value[index]
    return value
