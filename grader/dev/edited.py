"""Answers that are kept as edits of another one: a `.diff` file names its base and shows only what differs.

    # family: core
    # mistake: no-offset
    # base: transformer/wrong/pre_norm.py
    @@
         def embed(self, table, ids, start):
    -        x = x + self.pe[start : start + n]
    +        x = x + self.pe[:n]

Each part behind a `@@` shows lines of the base that stay (a space in front) or go (`-`), and lines that come (`+`).
All that stays or goes has to stand in the base exactly once, in the order of the parts; there are no line numbers to
keep true. The first two lines are those of the answer itself, and come in place of the base's own. A base may also be
the model answer of a kata: `# base: transformer/reference.py`.
"""

from __future__ import annotations

from itertools import dropwhile
from pathlib import Path
from typing import Final

from grader.errors import BadKataFile

HEAD: Final = ("# family: ", "# mistake: ")
BASE: Final = "# base: "
MODEL: Final = "reference.py"


def text_of(path: Path, root: Path, solutions: Path) -> str:
    """Return the text of an answer: of a `.py` as it is, of a `.diff` with its edits made in the base, below `root`.

    Model answers are below `solutions`.

    Raises BadKataFile, which names file and part, for edits that do not fit exactly once.
    """
    text = _read(path, "")
    if path.suffix != ".diff":
        return text
    head, *parts = text.split("\n@@\n")
    *own, last = head.splitlines()
    if not last.startswith(BASE) or not last.endswith(".py"):
        raise BadKataFile(path, "", f"must name its base before the first `@@`: `{BASE}KATA/correct/NAME.py`")
    if not parts:
        raise BadKataFile(path, "", "has no edit: each begins with a line `@@`")
    name = Path(last.removeprefix(BASE))
    base = (solutions if name == Path(name.parts[0], MODEL) else root) / name
    body = _edited(_body(_read(base, f"the base of {path}")), parts, path)
    return "".join(f"{line}\n" for line in [*own, *body])


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadKataFile(path, what, str(error)) from error


def _body(text: str) -> list[str]:
    return list(dropwhile(lambda line: line.startswith(HEAD), text.splitlines()))


def _edited(base: list[str], parts: list[str], path: Path) -> list[str]:
    done: list[str] = []
    at = 0
    for number, part in enumerate(parts, 1):
        old, new = _sides(part, path, number)
        places = [i for i in range(len(base) - len(old) + 1) if base[i : i + len(old)] == old]
        if not old or len(places) != 1:
            raise BadKataFile(path, f"edit {number}", f"its lines stand {len(places)} times in the base, not once")
        if places[0] < at:
            raise BadKataFile(
                path, f"edit {number}", "stands before the edit above it, or in it: keep the base's order"
            )
        done += [*base[at : places[0]], *new]
        at = places[0] + len(old)
    return done + base[at:]


def _sides(part: str, path: Path, number: int) -> tuple[list[str], list[str]]:
    old, new = list[str](), list[str]()
    for line in part.splitlines():
        mark, rest = line[:1] or " ", line[1:]
        if mark not in " -+":
            raise BadKataFile(path, f"edit {number}", f"{line!r} begins with none of a space, `-` and `+`")
        old += [rest] if mark != "+" else []
        new += [rest] if mark != "-" else []
    return old, new
