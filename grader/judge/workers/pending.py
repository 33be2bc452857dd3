"""What becomes of an operation that a sandbox was asked for."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any, Final, Protocol

import torch

from grader.language import _
from grader.transport.operations import Payload
from grader.transport.sentences import in_words
from grader.transport.wire import WireError

MOST_PROGRESS: Final = 200
"""So many times may a sandbox say how far a training is."""

Reply = tuple[dict[str, Any], dict[str, torch.Tensor]]
Told = Callable[[int, int, float], None]
"""Hears how far a training is: steps done, of all, and the loss that the sandbox claims."""


class MustResubmit(Exception):
    """The sandbox ended before it came to this operation: it has to be asked again, elsewhere."""


class Process(Protocol):
    """What an operation was asked of."""

    def settle(self, operation: Pending) -> None:
        """Wait until it is known what came of it."""

    def wait(self, operation: Pending) -> Reply:
        """Wait for its reply."""

    def discard(self) -> None:
        """End the process."""


class Pending:
    """An operation that was asked for, and what came of it."""

    __slots__ = (
        *("error", "nonce", "payload", "printed", "reply", "sandbox", "seconds", "together", "told", "took", "trained"),
    )

    def __init__(self, sandbox: Process, nonce: str, seconds: float, told: Told | None = None) -> None:
        self.sandbox, self.nonce, self.seconds, self.told = sandbox, nonce, seconds, told
        self.together = ""
        """The nonce of the frame, where it was asked for together with others."""
        self.trained = 0
        self.reply: dict[str, Any] | None = None
        self.payload: Payload = dict
        self.error: Exception | None = None
        self.printed = ""
        self.took = 0.0

    @property
    def settled(self) -> bool:
        """Whether it is known what came of it."""
        return self.reply is not None or self.error is not None

    def tell(self, header: dict[str, Any]) -> None:
        """Pass on how far a training is. Raises WireError for a message that is none, or one too many."""
        self.trained += 1
        step, steps, loss = (header.get(key) for key in ("step", "steps", "loss"))
        if self.told is None or self.trained > MOST_PROGRESS or type(step) is not int or type(steps) is not int:
            raise WireError("a malformed reply")
        if type(loss) is not float:
            raise WireError("a malformed reply")
        self.told(step, steps, loss)


Asked = Pending | Reply
"""What was asked for: of a process, or of an implementation here, which has done it already."""


def refused(error: WireError) -> str:
    """Return the sentence about a message that broke the rules."""
    sentence = _("the process of your code sent a message that the grader refuses: {problem}")
    return sentence.format(problem=in_words(str(error)))


def how_it_ended(status: int | None) -> str:
    """Return the sentence about a process that ended by itself; the status is None where nobody could reap it."""
    closed = _("the process of your code closed its line to the grader")
    if status is None:
        return closed
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:  # ours: the process was alive when the line broke
            return closed
        if number == signal.SIGXCPU:
            return _("your code used up its processor time")
        return _("the process of your code was ended by {signal}").format(signal=signal.Signals(number).name)
    sentence = _("your code ended its process with exit status {status} instead of returning")
    return sentence.format(status=os.WEXITSTATUS(status))
