"""Something that runs an implementation: what every one of them can do, and how one is run in this process."""

from __future__ import annotations

from typing import Any, Protocol

import torch

from grader.judge.workers.pending import Asked, Reply
from grader.sandbox.executor import AnswerError, Executor

Header = dict[str, Any]
Tensors = dict[str, torch.Tensor]


class Backend(Protocol):
    """Something that runs an implementation."""

    def submit(self, header: Header, tensors: Tensors) -> Asked:
        """Ask for one operation; what it returns is for :meth:`wait`."""

    def wait(self, asked: Asked) -> Reply:
        """Wait for an operation.

        Raises Failure when the implementation is gone, MustResubmit when it has to be asked again.
        """


def loaded(source: str, filename: str) -> Executor:
    """Return an implementation that can be trusted, for this process to run; its exceptions come through."""
    executor = Executor(filename)
    executor.load(source)
    return executor


def reply_of(implementation: Executor, header: Header, tensors: Tensors) -> Reply:
    """Do one operation as a sandbox would: what it raises is a reply."""
    try:
        return implementation.do(header, tensors)
    except AnswerError as error:
        return {"kind": "missing", "message": str(error)}, {}
    except Exception as error:  # noqa: BLE001 - a mistake may raise whatever an answer may
        bases = [f"{base.__module__}.{base.__qualname__}" for base in type(error).__mro__]
        return {"kind": "error", "type": type(error).__name__, "message": str(error), "bases": bases}, {}
