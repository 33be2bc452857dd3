"""The answers that a kata must tell apart.

Its stub and reference, its bank of mistakes, and those kept under tests/.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from grader import catalog
from grader.catalog import Kata
from grader.dev.edited import text_of
from grader.errors import BadKataFile
from grader.judge.explain.mistakes import load

Kind = Literal["stub", "reference", "mistake", "correct", "wrong"]


@dataclass(frozen=True, slots=True)
class Known:
    """An answer and what is known about it: the family that must reject it, the mistake that it is."""

    kata: str
    kind: Kind
    name: str
    source: str
    family: str = ""
    mistake: str = ""

    @property
    def accepted(self) -> bool:
        """Whether it must pass."""
        return self.kind in ("reference", "correct")


def tests_folder() -> Path:
    """Return the folder of answers; it is there in a clone only."""
    return catalog.content_root() / "tests" / "answers"


def known_answers(kata: Kata) -> Iterator[Known]:
    """Yield every answer that is known for a kata."""
    reference = kata.reference()
    yield Known(kata.id, "stub", "stub", kata.stub())
    yield Known(kata.id, "reference", "reference", reference)
    for mistake in load(kata):
        try:
            source = mistake.applied_to(reference)
        except ValueError as error:
            raise BadKataFile(kata.solution / "mistakes.toml", mistake.id, str(error)) from error
        yield Known(kata.id, "mistake", mistake.id, source, mistake.family, mistake.id)
    folder = tests_folder()
    for path in _kept(folder / kata.id / "correct"):
        yield Known(kata.id, "correct", path.stem, _text_of(path, folder))
    for path in _kept(folder / kata.id / "wrong"):
        yield _wrong(kata, path, _text_of(path, folder))


def _text_of(path: Path, folder: Path) -> str:
    return text_of(path, folder, folder.parent.parent / "solutions")


def _kept(folder: Path) -> list[Path]:
    """Return the files of answers of a kind: whole ones, and edits of others. Raises BadKataFile for one kept twice."""
    found = sorted([*folder.glob("*.py"), *folder.glob("*.diff")], key=lambda path: path.stem)
    for first, second in pairwise(found):
        if first.stem == second.stem:
            raise BadKataFile(first, "", f"and {second.name} are one answer: drop one of them")
    return found


def _wrong(kata: Kata, path: Path, source: str) -> Known:
    """Read a wrong answer; its first two lines say which family must reject it and which mistake it is."""
    head = [line.removeprefix("# ").partition(": ") for line in source.splitlines()[:2]]
    fields = {key: value.strip() for key, _, value in head}
    if fields.get("family") not in catalog.FAMILIES or "mistake" not in fields:
        raise BadKataFile(path, "", "must begin with the lines `# family: NAME` and `# mistake: ID` (or none)")
    mistake = "" if fields["mistake"] == "none" else fields["mistake"]
    return Known(kata.id, "wrong", path.stem, source, fields["family"], mistake)
