"""The bank of known mistakes: small replacements in the reference's own text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, Final

from grader.catalog import FAMILIES, Kata
from grader.errors import BadKataFile

Texts = dict[str, str]

SHARED: Final = "shared_mistakes.toml"
"""Beside the folders of the solutions: texts that several banks have in common."""
TEXTS: Final = ("title", "explain", "nudge")


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


def all_applied(mistakes: Iterable[Mistake], reference: str) -> Iterator[str]:
    """Yield the text that makes all of some mistakes, for each order in which their edits fit."""
    for order in permutations(mistakes):
        text = reference
        try:
            for mistake in order:
                text = mistake.applied_to(text)
        except ValueError:
            continue
        yield text


def load(kata: Kata) -> list[Mistake]:
    """Read the bank of a kata. Raises BadKataFile, which names file and entry."""
    file = kata.solution / "mistakes.toml"
    entries = _toml(file).get("mistake", [])
    mistakes = [_mistake(file, number, entry) for number, entry in enumerate(entries, 1)]
    ids = [mistake.id for mistake in mistakes]
    for name in ids:
        if ids.count(name) > 1:
            raise BadKataFile(file, name, "stands there twice")
    return mistakes


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadKataFile(file, "", str(error)) from error


@cache
def shared(file: Path) -> Mapping[str, dict[str, Texts]]:
    """Return the texts that several banks have in common, by name. Raises BadKataFile, which names file and key."""
    entries = _toml(file)
    for name, entry in entries.items():
        if not isinstance(entry, dict) or set(entry) != set(TEXTS):
            raise BadKataFile(file, name, f"must have {', '.join(TEXTS)}, each in en and in zh, and nothing else")
        for key in TEXTS:
            _texts(file, f"{name}.{key}", entry[key])
    return entries


def _texts(file: Path, where: str, texts: object) -> Texts:
    if (
        not isinstance(texts, dict)
        or set(texts) != {"en", "zh"}
        or not all(isinstance(text, str) and text.strip() for text in texts.values())
    ):
        raise BadKataFile(file, where, "needs a text in en and in zh")
    return texts


def _texts_of(file: Path, where: str, entry: dict[str, Any]) -> dict[str, Texts]:
    """Return title, explanation and nudge of an entry: its own, or those that it shares with others."""
    if "same_as" not in entry:
        return {key: _texts(file, f"{where}.{key}", entry.get(key)) for key in TEXTS}
    if own := set(TEXTS) & set(entry):
        raise BadKataFile(file, f"{where}.{min(own)}", "stands beside same_as, which stands for all three texts")
    common = shared(file.parent.parent / SHARED)
    if not isinstance(entry["same_as"], str) or entry["same_as"] not in common:
        raise BadKataFile(file, f"{where}.same_as", f"{entry['same_as']!r} is no name in {SHARED}")
    return common[entry["same_as"]]


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
    texts = _texts_of(file, where, entry)
    hint = entry.get("hint", 0)
    if type(hint) is not int or hint < 0:
        raise BadKataFile(file, f"{where}.hint", "must be the number of a rung of the hints")
    if unknown := set(entry) - {"id", "family", "edits", "same_as", "hint", *TEXTS}:
        raise BadKataFile(file, f"{where}.{min(unknown)}", "is not a key of a mistake")
    return Mistake(
        id=name,
        family=entry["family"],
        edits=tuple((edit["find"], edit["replace"]) for edit in edits),
        hint=hint,
        **texts,
    )
