"""Callables that do not lead to the function that they call, and so not to the globals of its module."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_wrapper: Any = functools._lru_cache_wrapper  # noqa: SLF001 - an object of C, which shows nothing


_nothing = types.FunctionType((lambda *_args, **_kwargs: None).__code__, {})
"""Stands where torch's compiler looks for what is behind such an object."""


def sealed(function: _Function) -> _Function:
    """Return what calls a function and binds as it does: ``functools.lru_cache`` without cache and ``__wrapped__``."""
    result: _Function = _wrapper(function, 0, False, None)
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(result, name, getattr(function, name, None))
    result.__wrapped__ = _nothing  # type: ignore[attr-defined]
    return result
