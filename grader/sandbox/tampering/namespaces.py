"""Compares what torch, Python's own functions and the harness consist of with what they were before the file came."""

from __future__ import annotations

import builtins
import gc
import inspect
import json
import linecache
import math
import operator
import re
import sys
import threading
import traceback
import types
import weakref
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, Final

import torch
import torch.overrides
from torch.utils import _python_dispatch

from grader.sandbox.tampering import hiding
from grader.sandbox.tampering.installed import is_installed

REPLACES: Final = "your file replaces {name}"
REMOVES: Final = "your file removes {name}"
SETS_THE_DTYPE: Final = "your file changes PyTorch's default dtype, for whoever uses it"

_LIBRARIES: Final = (
    *(builtins, torch, torch.nn, torch.nn.functional, torch.autograd, torch.linalg, torch.special, torch.overrides),
    *(torch._C, torch._C._nn, torch._tensor, torch.library, torch.jit, _python_dispatch, torch.utils._pytree),  # noqa: SLF001
    *(threading, gc, inspect, traceback, weakref, json, math, operator, linecache),
)
_CLASSES: Final = (
    *(
        torch.Tensor,
        torch.nn.Module,
        torch.nn.Parameter,
        torch.autograd.Function,
        torch.UntypedStorage,
        torch.Generator,
    ),
    *(torch.overrides.TorchFunctionMode, _python_dispatch.TorchDispatchMode, threading.Thread, weakref.finalize),
    *(torch._ops.OpOverload, torch._ops.OpOverloadPacket, torch.library.Library),  # noqa: SLF001
    *(torch.nn.MultiheadAttention, torch.nn.Linear, torch.nn.Embedding, torch.nn.LayerNorm, torch.nn.Dropout),
)
_OF_SYS: Final = (
    *("addaudithook", "setprofile", "getprofile", "settrace", "gettrace", "_getframe", "_current_frames"),
    *("exc_info", "meta_path", "modules", "audit"),
)
_CHANGE_BY_THEMSELVES: Final = frozenset(
    {"torch.manual_seed", "builtins._", "threading._profile_hook", "threading._trace_hook"}
)
"""The compiler of torch wraps the first when it is imported; the harness sets the last two."""
_OF_THE_DTYPE: Final = ("torch.", "Storage")
"""A name whose meaning follows the default dtype."""

_is, _all, _map, _len, _format = operator.is_, all, map, len, str.format
_compress = compress
_zip, _enumerate = zip, enumerate
_endswith, _OF_THE_COMPILER = str.endswith, "torch/_dynamo/mutation_guard.py"
_type, _Function, _getattr, _search = type, types.FunctionType, getattr, re.search


class _Watched:
    """One namespace: its names, what they meant, and what a new name must not hide."""

    def __init__(self, label: str, space: Any, names: Iterable[str] | None, hides: frozenset[str]) -> None:
        self.label, self.space, self.hides = label, space, hides
        chosen = [name for name, value in space.items() if _stays(value)] if names is None else names
        self.names = [name for name in chosen if name in space and f"{label}{name}" not in _CHANGE_BY_THEMSELVES]
        self.values = [space[name] for name in self.names]
        self.all = frozenset(space)
        self.count = _len(self.all) if names is None else -1
        self._in_order = list(space) if names is None else []
        watched = frozenset(self.names)
        self._are_watched = [name in watched for name in self._in_order]

    def is_as_it_was(self) -> bool:
        """Whether nothing was replaced, removed or hidden."""
        return self._is_untouched() or (
            _all(_map(_is, _map(self.space.get, self.names), self.values))
            and (self.count in (-1, _len(self.space)) or not self.added())
        )

    def _is_untouched(self) -> bool:
        """Whether the same names mean the same in the same order: seen in less time than it takes to look each up."""
        return (
            self.count == _len(self.space)
            and _all(_map(_is, self.space, self._in_order))
            and _all(_map(_is, _compress(self.space.values(), self._are_watched), self.values))
        )

    def added(self) -> list[str]:
        return [name for name in self.space if name not in self.all and name in self.hides]


def watched(modules: list[types.ModuleType]) -> list[_Watched]:
    """Return the namespaces that are compared, as they are now, among them those of the harness's modules."""
    found = [_Watched(_label(module), vars(module), None, _BUILTINS) for module in _LIBRARIES]
    found[0].hides = frozenset()
    found.append(_Watched("sys.", vars(sys), _OF_SYS, frozenset()))
    for kind in (*_CLASSES, *hiding.classes_of(modules)):
        inherited = frozenset(name for base in kind.__mro__[1:] for name in vars(base))
        found.append(_Watched(f"{_name_of(kind)}.", kind.__dict__, None, inherited))
    return found + [_Watched(_label(module), vars(module), None, _BUILTINS) for module in modules]


def changes(spaces: list[_Watched], source: str) -> Iterator[tuple[str, int]]:
    """Yield what is no longer what it was: a sentence, and the line of the learner's source that did it."""
    for watched in spaces:
        if watched.is_as_it_was():
            continue
        for name, value in _zip(watched.names, watched.values, strict=True):
            now = watched.space.get(name, spaces)
            if now is spaces:
                yield _format(REMOVES, name=f"{watched.label}{name}"), _line(source, name, None)
            elif now is not value and (watched.label, name) == _OF_THE_DTYPE:
                yield SETS_THE_DTYPE, _first_line(source, r"\bset_default_(dtype|tensor_type)\b")
            elif now is not value and not _wraps(now, value):
                yield _format(REPLACES, name=f"{watched.label}{name}"), _line(source, name, now)
        for name in watched.added():
            yield _format(REPLACES, name=f"{watched.label}{name}"), _line(source, name, watched.space[name])


def _line(source: str, name: str, value: Any) -> int:
    """Return the line that assigns to a name, or where what it is now was defined; 0 where neither is known."""
    assigns = rf"\.{name}\s*(=[^=]|,)|\b(setattr|delattr|patch\w*|update|__dict__)\b.*\b{name}\b|\bdel\b.*\.{name}\b"
    if found := _first_line(source, assigns):
        return found
    code = _getattr(value, "__code__", None) if _type(value) is _Function else None
    return code.co_firstlineno if code is not None and not is_installed(code.co_filename) else 0


def _first_line(source: str, pattern: str) -> int:
    for number, line in _enumerate(source.splitlines(), 1):
        if _search(pattern, line):
            return number
    return 0


_BUILTINS: Final = frozenset(vars(builtins))


def _label(module: types.ModuleType) -> str:
    return f"{module.__name__}."


def _name_of(kind: type) -> str:
    for prefix, module in (("torch.", torch), ("torch.nn.", torch.nn)):
        if vars(module).get(kind.__name__) is kind:
            return f"{prefix}{kind.__name__}"
    return f"{kind.__module__}.{kind.__qualname__}"


def _wraps(now: Any, value: Any) -> bool:
    """Whether a function of a library hands on to what was there: torch's compiler does so when it is imported."""
    if _type(now) is not _Function or not is_installed(now.__code__.co_filename):
        return False
    if _endswith(now.__code__.co_filename, _OF_THE_COMPILER):
        return True
    inner = _getattr(now, "__wrapped__", None)
    return inner is value or _getattr(now, "_torchdynamo_orig_callable", None) is value


def _stays(value: Any) -> bool:
    """Whether a name keeps its value: numbers are counters now and then, None is filled in when it is needed."""
    return not isinstance(value, (int, float, str, type(None)))
