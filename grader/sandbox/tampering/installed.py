"""Which files are the learner's: all but those of Python, of installed packages and of the grader."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Final

HARNESS: Final = str(Path(__file__).resolve().parent.parent.parent) + os.sep
_FOLDERS: Final = tuple(
    {
        *(os.path.realpath(sysconfig.get_paths()[name]) + os.sep for name in ("stdlib", "platstdlib", "purelib")),
        *(os.path.dirname(os.path.realpath(sys.modules[name].__file__ or "")) + os.sep for name in ("os", "torch")),
        *(entry + os.sep for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))),
        *("<frozen ", HARNESS),
    }
)

_startswith = str.startswith  # before anybody could patch it
_known: dict[str, bool] = {}


def is_installed(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to the grader: everything else is the learner's."""
    found = _known.get(filename)
    if found is None:
        found = _known[filename] = _startswith(filename, _FOLDERS)
    return found
