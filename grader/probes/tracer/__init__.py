"""Forbidden calls, found when they happen and named with the learner's line.

What counts is the call, not a name in the text, so three observers look at what runs:

- a torch function mode sees every public function of torch on this thread, under whatever name it was imported;
- a profile function sees functions written in Python (modules' `forward`, flex attention) on every thread, also where
  torch's own hooks are switched off;
- spies in the dispatcher (`install_dispatch_spies`) see the operators themselves: TorchScript, other threads.

One call shows up in several of them and is reported once, under the outermost forbidden name between the learner's
line and the observer.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.overrides import TorchFunctionMode, resolve_name

from grader.probes.frames import line_of
from grader.probes.seal import sealed
from grader.probes.tracer import spies
from grader.probes.tracer.rules import COMMON_FORBIDDEN, Rules, rules_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FrameType

_set_profile = sys.setprofile
_grad = torch.autograd.grad  # before an answer could patch it

__all__ = ["COMMON_FORBIDDEN", "Call", "install_dispatch_spies", "note_compiled", "trace"]


@dataclass(frozen=True)
class Call:
    """A forbidden call: what was called, and the line of the learner's file, 0 where none is on the stack."""

    name: str
    line: int


def install_dispatch_spies() -> None:
    """Prepare this process for seeing calls that no Python hook sees; not to be undone."""
    spies.spy_on(pattern for pattern, _ in rules_for((), ()).operators)


@contextlib.contextmanager
def trace(
    filename: str, forbidden: Iterable[str] = (), allowed: Iterable[str] = (), *, frames: bool = True
) -> Iterator[list[Call]]:
    """Collect the forbidden calls of the block, once for each name and line.

    Out of bounds are `COMMON_FORBIDDEN` and `forbidden`, less `allowed`: dotted names, also "torch.nn.Transformer*" or
    "torch.nn.attention.*". A function stands for its operator too: "torch.softmax" is also `x.softmax()`.
    ValueError: a name that torch does not have. Without ``frames`` functions that are written in Python are seen by the
    functions and operators of torch that they call, which costs less.
    """
    rules = rules_for(tuple(forbidden), tuple(allowed))
    if spies.installed():
        spies.spy_on(pattern for pattern, _ in rules.operators)
    recorder = _Recorder(filename, rules)
    profiles = sys.getprofile(), threading.getprofile()
    spies.listen(recorder.on_operator)
    recorder.look_at_compiled()
    profile = sealed(recorder.on_frame) if frames else profiles[0]
    threading.setprofile(profile if frames else profiles[1])
    _active.append(recorder)
    try:
        with _FunctionMode():
            _set_profile(profile)
            try:
                yield recorder.calls
            finally:
                _set_profile(profiles[0])
    finally:
        _active.pop()
        threading.setprofile(profiles[1])
        spies.unlisten(recorder.on_operator)


class _Recorder:
    """Turns what the observers see into calls."""

    def __init__(self, filename: str, rules: Rules) -> None:
        self.calls: list[Call] = []
        self._filename, self._rules = filename, rules
        self.names = rules.names
        self._thread = threading.get_ident()
        self._inside = threading.local()  # set while a recorded call runs: what it calls itself is no second call

    def look_at_compiled(self) -> None:
        """Record what is out of bounds and was turned into TorchScript: no Python function runs there."""
        for code, line in _compiled:
            rule = self._rules.of_code(code)
            if rule is not None and not rule.allowed:
                self.calls.append(Call(_of_pattern(rule.name, code), line))

    def function_name(self, function: Any) -> str | None:
        """Return the name to report a torch function under, None if it may be called; remembered in ``names``."""
        name = self._function_name(function)
        self.names[function] = name
        return name

    def _function_name(self, function: Any) -> str | None:
        if isinstance(function, (OpOverload, OpOverloadPacket)):
            base = str(function).removeprefix("aten.").partition(".")[0]
            return f"torch.ops.{function}" if self._rules.of_operator(base) else None
        rule = self._rules.of_operator(getattr(function, "__name__", ""))
        return (resolve_name(function) or rule) if rule else None

    def run(self, name: str, function: Any, args: Any, kwargs: Any) -> Any:
        """Record a call and make it."""
        if getattr(self._inside, "call", False) or (function is _grad and self._is_ours(inspect.currentframe())):
            return function(*args, **kwargs)
        self._record(name, inspect.currentframe())
        self._inside.call = True
        try:
            return function(*args, **kwargs)
        finally:
            self._inside.call = False

    def on_frame(self, frame: FrameType, event: str, argument: Any) -> None:
        """Look at a Python function that starts (`sys.setprofile`)."""
        del argument
        if event != "call":
            return
        rule = self._rules.of_code(frame.f_code)
        if rule is None or getattr(self._inside, "call", False):
            return
        if frame.f_code is not _grad.__code__ or not self._is_ours(frame):
            self._record(rule.name, frame)

    def on_operator(self, base: str) -> None:
        """Look at an operator that runs (`spies.listen`)."""
        name = self._rules.of_operator(base)
        if name is not None and not getattr(self._inside, "call", False):
            self._record(name, inspect.currentframe())

    def _is_ours(self, frame: FrameType | None) -> bool:
        """Whether nobody but the grader can have asked for gradients: where they are out of bounds, it still does."""
        while frame is not None and frame.f_code.co_filename != self._filename:
            frame = frame.f_back
        return frame is None and threading.get_ident() == self._thread

    def _record(self, name: str, frame: FrameType | None) -> None:
        outermost, walk = None, frame
        while walk is not None and walk.f_code.co_filename != self._filename:
            code = walk.f_code
            if code.co_name == "<module>" and "importlib" in _file_of(walk.f_back):
                return  # a module of torch that is being imported: nothing was called yet
            rule = self._rules.of_code(code)
            if rule is not None:
                outermost = rule if "*" not in rule.name else type(rule)(_full_name(walk), rule.allowed)
            walk = walk.f_back
        if outermost is not None and outermost.allowed:
            return
        name = outermost.name if outermost else name
        if walk is None and any(call.name == name for call in self.calls):
            return  # on a thread without a frame of the file, where another thread happens to be is no second line
        call = Call(name, line_of(self._filename, frame))
        if call not in self.calls:
            self.calls.append(call)


class _FunctionMode(TorchFunctionMode):
    """Shows every torch function to the recorder and then runs it. Whoever gets hold of it finds no rules in it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        recorder = _active[-1]
        try:
            name = recorder.names[func]
        except KeyError:
            name = recorder.function_name(func)
        if name is None:
            return func(*args, **(kwargs or {}))
        return recorder.run(name, func, args, kwargs or {})


_active: list[_Recorder] = []


_compiled: list[tuple[CodeType, int]] = []


def note_compiled(code: CodeType, line: int) -> None:
    """Take note of a Python function that becomes TorchScript, by the line that wants it."""
    if (code, line) not in _compiled:
        _compiled.append((code, line))


def _of_pattern(name: str, code: CodeType) -> str:
    return name if "*" not in name else f"{name.rpartition('.')[0]}.{code.co_qualname}".removesuffix(".forward")


def _file_of(frame: FrameType | None) -> str:
    return frame.f_code.co_filename if frame else ""


def _full_name(frame: FrameType) -> str:
    """Return the dotted name of a running function; a module's `forward` goes by its class."""
    name = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}".removesuffix(".forward")
    return name.replace("torch.nn.modules.transformer.", "torch.nn.")
