"""The model answer, called directly in this process."""

from __future__ import annotations

from typing import Any, Final

import torch

from grader.judge.workers.backend import Header, Tensors
from grader.sandbox.executor import Executor

REFERENCE: Final = {"dtype": "float64", "device": "cpu", "trace": None, "cost": False, "through": None}
"""How the reference runs, whatever the answer's variant is."""


class Reference:
    """The model answer, called directly.

    Building a module takes longer than calling it, so modules of a make are used again.
    """

    def __init__(self, source: str, filename: str) -> None:
        self.executor = Executor(filename)
        self.executor.load(source)
        self._idle: dict[str, list[torch.nn.Module]] = {}
        self._makes: dict[int, str] = {}

    def build(self, header: Header, args: Any, kwargs: Any, state: Any) -> None:
        """Build a module, or take one of the same make that is idle; exceptions of its constructor come through.

        ``draw`` in the header: one that was made with other roundings is another make.
        """
        make = f"{header['entry']}{args}{kwargs}{header.get('draw', '')}"
        handle = header["handle"]
        idle = self._idle.get(make)
        if idle and header["wants_module"]:
            self.executor.adopt(handle, idle.pop(), state)
        else:
            self.executor.build_from(header | REFERENCE, args, kwargs, state)
        self._makes[handle] = make

    def has(self, handle: int) -> bool:
        """Whether the module of this number was built."""
        return handle in self._makes

    def call(self, header: Header, args: Any, kwargs: Any, through: list[bool] | None) -> tuple[Any, Tensors]:
        """Call it; returns what it returned, and its gradients by name."""
        return self.executor.trusted_call(header | REFERENCE | {"through": through}, args, kwargs)

    def release(self, handles: list[int]) -> None:
        """Take back the modules of a case that is over."""
        for handle in handles:
            make, module = self._makes.pop(handle, ""), self.executor.module(handle)
            if make and module is not None:
                self._idle.setdefault(make, []).append(module)
        self.executor.forget(handles)
