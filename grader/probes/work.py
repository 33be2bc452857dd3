"""How much work each line of a file asks for in a call, with the lines that called it."""

# torch has classes without annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from torch.utils._python_dispatch import TorchDispatchMode

from grader.probes.meter import work_of

if TYPE_CHECKING:
    from types import FrameType

Place = tuple[tuple[int, ...], int]
"""The lines of the file that were running, the outermost first, and how much work one operation took."""


class Work:
    """Counts operations by who asked for them, and by how much work each takes, while it is entered."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.counted: Counter[Place] = Counter()
        self._mode = _Mode(self)

    def __enter__(self) -> Self:
        self._mode.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)

    def on_operation(self, work: int) -> None:
        """Take note of an operation."""
        lines: list[int] = []
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - whose lines they are
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                lines.append(frame.f_lineno)
            frame = frame.f_back
        if work and lines:
            self.counted[tuple(reversed(lines)), work] += 1


class _Mode(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # else the first operator imports PyTorch's compiler, which takes seconds
        return False

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        result = func(*args, **(kwargs or {}))
        self._work.on_operation(work_of(func, args, result))
        return result
