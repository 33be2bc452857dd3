"""What torch imports of itself only when it is first needed, which takes seconds: done before a file is loaded.

The time of a call is the answer's, and an answer is not to be blamed for torch's own imports. Whatever is not foreseen
here is imported when it is needed, as anywhere else.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import torch

_NEEDED: Final = {
    "torch.fx.experimental.symbolic_shapes": frozenset(("broadcast_shapes", "backward", "grad", "grad_outputs")),
    "torch._dynamo": frozenset(
        (
            *("checkpoint", "checkpoint_sequential", "compiler", "_dynamo"),
            *("jvp", "jacfwd", "hessian", "linearize"),
            *("Adam", "AdamW", "SGD"),
        )
    ),
}
"""Names of modules, and the names in a file that make torch import them."""


def may_be_needed(source: str) -> bool:
    """Whether it is worth to look at the names in a file."""
    return any(name in source for causes in _NEEDED.values() for name in causes)


def foreseen(source: str) -> list[str]:
    """Return the modules that torch will import where this file is run: a guess, from the names in it."""
    try:
        names = set(_names(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # loading it will tell
        return []
    return [module for module, causes in _NEEDED.items() if not causes.isdisjoint(names)]


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")


def load(source: str) -> None:
    """Import what this file will need. A module that this torch does not have will not be missed."""
    for module in foreseen(source):
        with suppress(ImportError):
            importlib.import_module(module)


def compile_nothing() -> None:
    """Let torch.compile hand back what it is given: it means the same, and no compiler can be started in a sandbox."""
    torch.compile = _as_it_is


def _as_it_is(model: Callable[..., Any] | None = None, **_options: Any) -> Any:
    return model if model is not None else _as_it_is
