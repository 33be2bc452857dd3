"""Spies in the dispatcher: they see what no Python hook sees (TorchScript, other threads, hooks switched off).

A spy takes the place of an operator's kernel, tells who listens, and runs the kernel that it replaced: results,
gradients and costs stay what they were.
"""

# torch.library has no annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import warnings
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import torch
from torch.library import Library, get_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_library: list[Library] = []  # a kernel lives as long as its library
_spied: set[str] = set()
_covered: set[str] = set()  # the patterns that were asked for
_listeners: list[Callable[[str], None]] = []


def listen(listener: Callable[[str], None]) -> None:
    """Call `listener` with the name of each spied operator that runs, on the thread on which it runs."""
    _listeners.append(listener)


def unlisten(listener: Callable[[str], None]) -> None:
    """Undo `listen`."""
    _listeners.remove(listener)


def installed() -> bool:
    """Tell whether this process has spies."""
    return bool(_library)


def spy_on(patterns: Iterable[str]) -> None:
    """Put spies before the operators whose names match, for the rest of the process's life."""
    fresh = set(patterns) - _covered
    if not fresh:
        return
    _covered.update(fresh)
    if not _library:
        _library.append(Library("aten", "IMPL"))
    for name in _operators(fresh):
        key = _key(name)
        if key and name not in _spied:
            _spied.add(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch warns of every kernel that is replaced: that is the purpose
                _library[0].impl(name.removeprefix("aten::"), _spy(name), key, with_keyset=True)


def _operators(patterns: set[str]) -> list[str]:
    """Return the full names of operators, without backward passes and variants that write into a given tensor."""
    names = torch._C._dispatch_get_all_op_names()  # noqa: SLF001 - there is no public list
    found = []
    for name in names:
        base, _, overload = name.removeprefix("aten::").partition(".")
        if not name.startswith("aten::") or overload.endswith("out") or base.endswith("_backward"):
            continue
        if any(fnmatchcase(base, pattern) for pattern in patterns):
            found.append(name)
    return found


def _key(name: str) -> str:
    """Return where the kernel that runs on CPU tensors is registered; gradients are attached above it."""
    for key in ("CPU", "CompositeImplicitAutograd"):
        if torch._C._dispatch_has_kernel_for_dispatch_key(name, key):  # noqa: SLF001 - there is no public test
            return key
    return ""


def _spy(name: str) -> Callable[..., Any]:
    original = get_kernel(name, "CPU")
    base = name.removeprefix("aten::").partition(".")[0]

    def spy(keys: Any, *args: Any, **kwargs: Any) -> Any:
        for listener in tuple(_listeners):
            listener(base)
        return original.call_boxed(keys, *args, **kwargs)

    return spy
