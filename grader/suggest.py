"""Which kata somebody may mean who names none: by its title, its tags and its classes, and by a slip of the keys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

MOST: Final = 3
"""So many are suggested."""
_APART: Final = re.compile(r"[\W_]+")
"""What stands between words: "Multi-head attention" is found by "multihead", too."""


@dataclass(frozen=True, slots=True)
class Called:
    """What a kata is called."""

    id: str
    titles: tuple[str, ...]
    tags: tuple[str, ...]
    entry: tuple[str, ...]


def suggested(name: str, katas: Iterable[Called]) -> list[str]:
    """Return the ids of at most three katas, the one that is most likely meant first."""
    every = list(katas)
    wanted = _letters(name)
    if len(wanted) < 2:  # noqa: PLR2004 - a letter is in every title
        return []
    close = get_close_matches(name.lower(), [kata.id for kata in every], n=MOST, cutoff=0.55)
    ranks = {kata.id: rank for kata in every if (rank := _rank(wanted, kata, close)) is not None}
    return sorted(ranks, key=ranks.__getitem__)[:MOST]


def _rank(wanted: str, kata: Called, close: list[str]) -> tuple[int, int] | None:
    """Return how well a name fits: all of a title first, then a tag, a part of a title, a slip."""
    names = [_letters(text) for text in (kata.id, *kata.titles, *kata.entry)]
    if wanted in names:
        return 0, 0
    is_part = any(wanted in text for text in names)
    if wanted in map(_letters, kata.tags):
        return 1, not is_part
    if is_part:
        return 2, 0
    if kata.id in close:
        return 3, close.index(kata.id)
    return None


def _letters(text: str) -> str:
    return _APART.sub("", text).lower()
