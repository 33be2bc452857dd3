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
from collections.abc import Iterable
from itertools import compress
from typing import Any, Final

import torch
import torch.overrides
from torch.utils import _python_dispatch

from grader.sandbox.tampering import hiding
from grader.sandbox.tampering.ledger import Ledger, is_installed

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


class Namespaces:
    """All that is compared."""

    def __init__(self, ledger: Ledger, modules: list[types.ModuleType]) -> None:
        self._ledger, self._modules = ledger, modules
        self.renew()

    def renew(self) -> None:
        """Take everything as it is now for what it should be."""
        self._watched = [_Watched(_label(module), vars(module), None, _BUILTINS) for module in _LIBRARIES]
        self._watched[0].hides = frozenset()
        self._watched.append(_Watched("sys.", vars(sys), _OF_SYS, frozenset()))
        for kind in (*_CLASSES, *hiding.classes_of(self._modules)):
            inherited = frozenset(name for base in kind.__mro__[1:] for name in vars(base))
            self._watched.append(_Watched(f"{_name_of(kind)}.", kind.__dict__, None, inherited))
        self._watched += [_Watched(_label(module), vars(module), None, _BUILTINS) for module in self._modules]

    def compare(self) -> None:
        """Write down what is no longer what it was."""
        for watched in self._watched:
            if watched.is_as_it_was():
                continue
            for name, value in _zip(watched.names, watched.values, strict=True):
                now = watched.space.get(name, self)
                if now is self:
                    self._note(REMOVES, watched.label, name, None)
                elif now is not value and (watched.label, name) == _OF_THE_DTYPE:
                    self._ledger.note_lasting(SETS_THE_DTYPE, self._first_line(r"\bset_default_(dtype|tensor_type)\b"))
                elif now is not value and not _wraps(now, value):
                    self._note(REPLACES, watched.label, name, now)
            for name in watched.added():
                self._note(REPLACES, watched.label, name, watched.space[name])

    def _note(self, sentence: str, label: str, name: str, value: Any) -> None:
        self._ledger.note_lasting(_format(sentence, name=f"{label}{name}"), self._line(name, value))

    def _line(self, name: str, value: Any) -> int:
        """Return the line that assigns to the name, or where what it is now was defined; 0 where neither is known."""
        assigns = (
            rf"\.{name}\s*(=[^=]|,)|\b(setattr|delattr|patch\w*|update|__dict__)\b.*\b{name}\b|\bdel\b.*\.{name}\b"
        )
        if found := self._first_line(assigns):
            return found
        code = _getattr(value, "__code__", None) if _type(value) is _Function else None
        return code.co_firstlineno if code is not None and not is_installed(code.co_filename) else 0

    def _first_line(self, pattern: str) -> int:
        for number, line in _enumerate(self._ledger.source.splitlines(), 1):
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
