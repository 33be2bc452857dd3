"""What the outcome of a run rests on: what was asked and expected, what came back, and the check that judges it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from grader.judge.cases.check import Check
from grader.judge.runs.recording import Recording
from grader.judge.workers.pending import Pending


@dataclass(eq=False)
class Evidence:
    """One run, as far as it has come."""

    recording: Recording | None = field(default=None, repr=False)
    """What it asks and expects, where that was made before there was an answer."""
    operations: list[Pending] = field(default_factory=list, repr=False)
    """What was asked of the answer, as far as there is no check that knows."""
    check: Check | None = field(default=None, repr=False)
    """What was asked and replied, judged in the long way."""
    is_drawn_again: bool = False
    """Whether the check is that of other inputs than those which all answers of the seed get."""
    rejudge: Callable[[], Check] | None = field(default=None, repr=False)
    """Makes the check from the replies, where the run was accepted at a glance."""

    @property
    def is_accepted_at_a_glance(self) -> bool:
        """Whether every reply was what a passing answer's is, so that nobody had to look closer."""
        return self.rejudge is not None

    @property
    def checked(self) -> Check | None:
        """The check, made now where nobody has wanted it yet; None for a run that was never asked."""
        if self.check is None and self.rejudge is not None:
            self.check = self.rejudge()
        return self.check

    def asked(self) -> list[Pending]:
        """Return all that was asked of the answer."""
        if self.check is None:
            return self.operations
        return [exchange.asked for exchange in self.check.exchanges if isinstance(exchange.asked, Pending)]
