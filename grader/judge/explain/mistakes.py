"""The bank of known mistakes: small replacements in the reference's own text."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.catalog import FAMILIES, Kata
from grader.errors import BadKataFile

Texts = dict[str, str]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One known wrong answer and what to tell someone who gave it."""

    id: str
    family: str
    edits: tuple[tuple[str, str], ...]
    title: Texts
    explain: Texts
    nudge: Texts
    hint: int = 0
    """The rung of the hints that helps against it, counted from 1; 0 where none does."""

    def applied_to(self, reference: str) -> str:
        """Return the text of the wrong answer. Raises ValueError unless each edit fits exactly once."""
        for find, replace in self.edits:
            count = reference.count(find)
            if count != 1:
                raise ValueError(f"mistake {self.id}: {find!r} occurs {count} times in the reference, not once")
            reference = reference.replace(find, replace)
        return reference


def load(kata: Kata) -> list[Mistake]:
    """Read the bank of a kata. Raises BadKataFile, which names file and entry."""
    file = kata.solution / "mistakes.toml"
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8")).get("mistake", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadKataFile(file, "", str(error)) from error
    mistakes = [_mistake(file, number, entry) for number, entry in enumerate(entries, 1)]
    ids = [mistake.id for mistake in mistakes]
    for name in ids:
        if ids.count(name) > 1:
            raise BadKataFile(file, name, "stands there twice")
    return mistakes


def _mistake(file: Path, number: int, entry: dict[str, Any]) -> Mistake:
    name = entry.get("id")
    where = name if isinstance(name, str) and name else f"mistake {number}"
    if not isinstance(name, str) or not name:
        raise BadKataFile(file, where, "has no id")
    if entry.get("family") not in FAMILIES:
        raise BadKataFile(file, f"{where}.family", f"must be one of {' '.join(FAMILIES)}")
    edits = entry.get("edits")
    if not isinstance(edits, list) or not edits:
        raise BadKataFile(file, f"{where}.edits", "must be a list of { find, replace }")
    for edit in edits:
        if (
            not isinstance(edit, dict)
            or set(edit) != {"find", "replace"}
            or not all(isinstance(v, str) for v in edit.values())
        ):
            raise BadKataFile(file, f"{where}.edits", "each edit has the two texts find and replace")
    for key in ("title", "explain", "nudge"):
        texts = entry.get(key)
        if (
            not isinstance(texts, dict)
            or set(texts) != {"en", "zh"}
            or not all(isinstance(t, str) and t.strip() for t in texts.values())
        ):
            raise BadKataFile(file, f"{where}.{key}", "needs a text in en and in zh")
    hint = entry.get("hint", 0)
    if type(hint) is not int or hint < 0:
        raise BadKataFile(file, f"{where}.hint", "must be the number of a rung of the hints")
    unknown = set(entry) - {"id", "family", "edits", "title", "explain", "nudge", "hint"}
    if unknown:
        raise BadKataFile(file, f"{where}.{min(unknown)}", "is not a key of a mistake")
    return Mistake(
        name,
        entry["family"],
        tuple((e["find"], e["replace"]) for e in edits),
        entry["title"],
        entry["explain"],
        entry["nudge"],
        hint,
    )
