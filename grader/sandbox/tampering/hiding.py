"""Puts the harness out of reach by name: its modules leave ``sys.modules``, its classes no longer show their functions.

A function in Python leads to the globals of its module, and so does each class, which ``object.__subclasses__()``
lists: methods are sealed (see :mod:`grader.probes.seal`).
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any, Final

from grader.probes.seal import sealed

NAME: Final = "grader"
HERE: Final = ("grader.sandbox", "grader.probes", "grader.transport", "grader.text", "grader.language")
"""What works in a sandbox, with what that imports; the rest lies there because whoever was forked had imported it."""
_alive: list[types.ModuleType] = []


class _Finder(MetaPathFinder):
    """Comes first, finds nothing, and says who looked for the harness."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        del path, target
        if fullname == NAME or fullname.startswith(f"{NAME}."):
            _on_import[-1](fullname)
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


_on_import: list[Callable[[str], None]] = []


def hide(on_import: Callable[[str], None]) -> list[types.ModuleType]:
    """Take the harness out of ``sys.modules``, seal its classes and return those of its modules that work here.

    ``on_import`` hears the name of a module of it that somebody imports all the same.
    """
    _on_import.append(on_import)
    names = [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]
    modules = [sys.modules.pop(name) for name in names]
    _alive.extend(modules)
    for kind in classes_of(modules):
        _seal(kind)
    sys.meta_path.insert(0, _Finder())
    main = types.ModuleType("__main__")
    _alive.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return [module for module in modules if module.__name__.startswith(HERE)]


def classes_of(modules: list[types.ModuleType]) -> Iterator[type]:
    """Yield the classes that these modules define."""
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


def _seal(kind: type) -> None:
    for name, value in list(vars(kind).items()):
        if isinstance(value, types.FunctionType):
            setattr(kind, name, sealed(value))
        elif isinstance(value, (classmethod, staticmethod)) and isinstance(value.__func__, types.FunctionType):
            setattr(kind, name, type(value)(sealed(value.__func__)))
        elif isinstance(value, property):
            setattr(kind, name, property(*map(_sealed_if_any, (value.fget, value.fset, value.fdel))))
        elif isinstance(value, functools.cached_property):
            value.func = sealed(value.func)


def _sealed_if_any(function: Any) -> Any:
    return None if function is None else sealed(function)
