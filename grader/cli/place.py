"""Which folder is the workspace: the one asked for, the one that one stands in or above, or the one used last."""

import ast
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader import catalog
from grader.language import _
from grader.text import shown

NAME: Final = "workspace"


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace, and what to say of it: nothing where a person would have expected this one."""

    folder: Path
    said: str = ""


def found(asked: Path | None, last_used: Callable[[], str | None]) -> Place:
    """Return the workspace to use; it need not be there yet."""
    if asked is not None:
        return Place(asked)
    try:
        here = Path.cwd()
    except OSError:  # a folder that somebody has removed
        return Place(Path(NAME))
    if around := _around(here):
        said = _("The workspace is {folder}, found above this folder.") if _surprises(around, here) else ""
        return Place(_from(here, around), said.format(folder=shown(around)))
    last = last_used()
    if last and os.path.isdir(last):  # noqa: PTH112 - Path.is_dir() raises where one may not look
        said = "" if here.is_relative_to(last) else _("The workspace is {folder}, the one used last.")
        return Place(_from(here, Path(last)), said.format(folder=shown(Path(last))))
    return Place(Path(NAME))


def answered_by(path: Path) -> str | None:
    """Return the name of what a file answers by its own name: `mha.py` an answer to mha, `mha_debug.py` its round."""
    stem = path.stem.lower().replace("_", "-")
    if catalog.exists(stem):
        return stem
    kata_id, _, kind = stem.rpartition("-")
    return catalog.beside(kata_id, kind) if kind in catalog.KINDS and catalog.exists(kata_id) else None


def defined_in(path: Path) -> list[str]:
    """Return the ids of the katas that a file may answer by what it defines; none where it cannot be read."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # whoever grades it says so
        return []
    defined = {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    return [kata.id for kata in catalog.katas().values() if defined.issuperset(kata.entry)]


def is_path(word: str) -> bool:
    """Tell whether what was typed in the place of a kata is a file."""
    return word.endswith(".py") or os.sep in word


def is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, or would."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100 - resolve() would follow links


def is_own(path: Path, workspace: Path) -> bool:
    """Tell whether a path leads to a file in the workspace, as it was shown here or in the folder above."""
    name = answered_by(path)
    if name is None:
        return False
    own = workspace / catalog.filename(name)
    return any(is_same(one, own) for one in (path, workspace.absolute().parent / path))


def _around(here: Path) -> Path | None:
    for folder in (here, *here.parents):
        if _is_workspace(folder):
            return folder
        below = folder / NAME
        if _is_workspace(below) or (folder == here and os.path.isdir(below)):  # noqa: PTH112 - as above
            return below
    return None


def _is_workspace(folder: Path) -> bool:
    """Tell whether a folder holds answers; others are called `workspace`, too."""
    if os.path.isdir(folder / ".attempts"):  # noqa: PTH112 - as above
        return True
    if folder.name != NAME:
        return False
    try:
        entries = list(folder.iterdir())
    except OSError:
        return False
    return not entries or any(path.suffix == ".py" and answered_by(path) for path in entries)


def _surprises(folder: Path, here: Path) -> bool:
    return here not in (folder, folder.parent) and not here.is_relative_to(folder)


def _from(here: Path, folder: Path) -> Path:
    """Return a folder as a person would write it from here."""
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
