"""Where a result gets another shape than it should have, though its numbers are the right ones, in their order."""

from __future__ import annotations

import torch

from grader.judge.explain.locate.match import near, plain
from grader.judge.explain.locate.traces import Trace
from grader.judge.explain.locate.uses import RESERVES


def is_reshaped(got: torch.Tensor, want: torch.Tensor, slack: float) -> bool:
    """Whether a result has the right numbers in their order, and another shape."""
    if got.shape == want.shape or got.numel() != want.numel():
        return False
    return near(plain(got).flatten(), plain(want).flatten(), slack)


def shaped_at(answer: Trace, end: int, shape: torch.Size) -> tuple[int, ...]:
    """Return the lines that give a result its shape: who makes room of that shape, or hands it back as it is.

    Where axes of 1 are taken away on the way to it, that is told, too.
    """
    behind, _met = answer.behind(end, ())
    steps = [answer.steps[number] for number in sorted(behind) if answer.steps[number].line]
    room = [step.line for step in steps if step.operation in RESERVES and step.shape == tuple(shape)]
    fewer = [step.line for step in steps if step.operation == "squeeze"]
    last = (*room[:1], answer.returned) if room else (*fewer[-1:], answer.returned, answer.steps[end].line)
    return tuple(dict.fromkeys(line for line in last if line))
