"""Planting: known mistakes of a kata's bank, written into its model answer so that nothing but the mistakes shows.

Which ones depends on the kata, on how many are wanted and on a seed: equal seeds give equal files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import reduce
from hashlib import sha256
from itertools import combinations
from typing import Any, Final, Self

from grader.catalog import Kata
from grader.debug.plain import plain, unread, without_unused_imports
from grader.errors import BadKataFile, TooFewMistakes
from grader.judge.explain.mistakes import Mistake, Texts, load

WIDTH: Final = 120
"""The longest line of a model answer. A mistake that only fits into a longer one shows at a glance."""
UNSEEN_FAMILIES: Final = ("device",)
"""Their cases may be skipped where a grading runs, and the mistake would pass."""

Hunk = tuple[int, int, tuple[str, ...]]
"""Lines from one number to another, counted from 0, of the sound file, and what stands there instead."""

Candidate = tuple[Mistake, list[Hunk]]


@dataclass(frozen=True, slots=True)
class Change:
    """One place of a planted file: its line, what stands there and what stood there before."""

    line: int
    planted: tuple[str, ...]
    sound: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plant:
    """One planted mistake."""

    id: str
    title: Texts
    explain: Texts
    nudge: Texts
    changes: tuple[Change, ...]

    def in_language(self, lang: str) -> dict[str, Any]:
        """Return it as a report shows it."""
        texts = {"title": self.title[lang], "explain": self.explain[lang], "nudge": self.nudge[lang]}
        return {"id": self.id, **texts, "changes": [asdict(change) for change in self.changes]}


@dataclass(frozen=True, slots=True)
class Planted:
    """A file with planted mistakes, from top to bottom, and the same file without them."""

    source: str
    sound: str
    plants: tuple[Plant, ...]

    def left_in(self, source: str) -> list[Plant]:
        """Return the mistakes that a learner's file still has: their lines, beside what stood above or below them."""
        lines = [line.rstrip() for line in source.splitlines() if line.strip()]
        return [one for one in self.plants if any(self._is_in(lines, change) for change in one.changes)]

    def document(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    def _is_in(self, lines: list[str], change: Change) -> bool:
        own = self.source.splitlines()
        start, end = change.line - 1, change.line - 1 + len(change.planted)
        above = [line for line in own[:start] if line.strip()][-1:]
        below = [line for line in own[end:] if line.strip()][:1]
        if not any(map(str.strip, change.planted)):
            return _occurs([*above, *below], lines)
        return _occurs([*above, *change.planted], lines) or _occurs([*change.planted, *below], lines)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Self:
        """Return it as `document` wrote it."""
        plants = tuple(
            Plant(**plant | {"changes": tuple(_change(change) for change in plant["changes"])})
            for plant in document["plants"]
        )
        return cls(document["source"], document["sound"], plants)


class Bank:
    """The mistakes of a kata that can be planted. Raises BadKataFile for a bank that breaks the rules."""

    def __init__(self, kata: Kata, lang: str = "en") -> None:
        self.kata, self.sound = kata, sound_text(kata, lang)
        self._reference, self._stub = kata.reference(), kata.stub(lang)
        self._candidates = [candidate for mistake in load(kata) if (candidate := self._candidate(mistake))[1]]
        self._fit: dict[tuple[str, ...], bool] = {}

    def plant(self, bugs: int, seed: int) -> Planted:
        """Return the model answer with so many mistakes planted in it. Raises TooFewMistakes."""
        order = sorted(self._candidates, key=lambda candidate: _drawn(seed, self.kata.id, candidate[0].id))
        apart = _apart([hunks for _, hunks in order])
        chosen = self._chosen(order, apart, bugs)
        if not chosen:
            smaller = range(min(bugs - 1, len(order)), 0, -1)
            together = next((number for number in smaller if self._chosen(order, apart, number)), 0)
            raise TooFewMistakes(self.kata.id, bugs, len(order), together)
        return _planted(self.sound, [order[number] for number in chosen])

    def _candidate(self, mistake: Mistake) -> Candidate:
        """Return a mistake with the lines that it changes, none where it would show at a glance or might not show."""
        try:
            text = plain(mistake.applied_to(self._reference), self._stub)
        except (ValueError, SyntaxError) as error:
            raise BadKataFile(self.kata.solution / "mistakes.toml", mistake.id, str(error)) from error
        seen = mistake.family not in UNSEEN_FAMILIES and max(map(len, text.splitlines())) <= WIDTH
        return mistake, _hunks(self.sound, text) if seen and unread(text) <= unread(self.sound) else []

    def _chosen(self, order: Sequence[Candidate], apart: list[set[int]], bugs: int) -> list[int]:
        """Return the first of the candidates that fit together, none where there are not so many.

        Takes out of `apart` what turns out not to fit after all: edits that meet though their lines do not.
        """
        while _have_room(set(range(len(order))), apart, bugs):
            chosen: list[int] = []
            left = set(range(len(order)))
            while len(chosen) < bugs:
                more = bugs - len(chosen) - 1
                number = next(n for n in sorted(left) if _have_room(left & apart[n], apart, more))
                left = {n for n in left & apart[number] if n > number}
                chosen.append(number)
            clash = self._clash(order, chosen)
            if clash is None:
                return chosen
            a, b = clash
            apart[a].discard(b)
            apart[b].discard(a)
        return []

    def _clash(self, order: Sequence[Candidate], chosen: list[int]) -> tuple[int, int] | None:
        """Return two of the chosen whose edits, one after the other, make something else than each makes alone."""
        by_name = sorted(chosen, key=lambda number: order[number][0].id)
        for group in (*combinations(by_name, 2), by_name):
            if not self._fits([order[number] for number in group]):
                return group[0], group[-1]
        return None

    def _fits(self, group: Sequence[Candidate]) -> bool:
        names = tuple(mistake.id for mistake, _ in group)
        if names not in self._fit:
            merged = _merged(self.sound, [hunk for _, hunks in group for hunk in hunks])
            edited = self._edited([mistake for mistake, _ in group])
            self._fit[names] = edited == merged and unread(edited) <= unread(self.sound)
        return self._fit[names]

    def _edited(self, mistakes: Iterable[Mistake]) -> str:
        """Return the plain text with the edits of mistakes, one after the other; nothing where one no longer fits."""
        try:
            return plain(reduce(lambda text, mistake: mistake.applied_to(text), mistakes, self._reference), self._stub)
        except (ValueError, SyntaxError):
            return ""


def plant(kata: Kata, bugs: int, seed: int, lang: str = "en") -> Planted:
    """Return the model answer of a kata with some mistakes of its bank planted in it, the same in every language.

    Raises TooFewMistakes where so many do not fit together, and BadKataFile for a bank that breaks the rules.
    """
    return Bank(kata, lang).plant(bugs, seed)


def sound_text(kata: Kata, lang: str = "en") -> str:
    """Return what a learner has who repaired everything: the model answer, plain."""
    return plain(kata.reference(), kata.stub(lang))


def _drawn(seed: int, *names: str) -> bytes:
    """Return a number drawn for something, the same on each version of Python."""
    return sha256(f"{seed} {' '.join(names)}".encode()).digest()


def _hunks(before: str, after: str) -> list[Hunk]:
    old, new = before.splitlines(), after.splitlines()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i, j, tuple(new[k:end])) for tag, i, j, k, end in matcher.get_opcodes() if tag != "equal"]


def _merged(before: str, hunks: Iterable[Hunk]) -> str:
    lines = before.splitlines()
    for start, end, new in sorted(hunks, reverse=True):
        lines[start:end] = new
    return "\n".join(lines) + "\n"


def _apart(candidates: Sequence[list[Hunk]]) -> list[set[int]]:
    """Return, for each mistake, those that share no line with it."""
    apart: list[set[int]] = [set() for _ in candidates]
    for a, b in combinations(range(len(candidates)), 2):
        if not any(_overlap(one, other) for one in candidates[a] for other in candidates[b]):
            apart[a].add(b)
            apart[b].add(a)
    return apart


def _overlap(one: Hunk, other: Hunk) -> bool:
    # Lines that are put in have a place and no length; where lines were taken out, nothing else tells the place.
    if any(start == end or not new for start, end, new in (one, other)):
        return max(one[0], other[0]) <= min(one[1], other[1])
    return max(one[0], other[0]) < min(one[1], other[1])


def _have_room(among: set[int], apart: Sequence[set[int]], wanted: int) -> bool:
    """Tell whether so many of some mistakes can be planted together."""
    left, found = among, 0
    while left and found < wanted:
        left = left & apart[min(left, key=lambda number: len(left - apart[number]))]
        found += 1
    return found >= wanted or _largest(among, apart) >= wanted


def _largest(among: set[int], apart: Sequence[set[int]]) -> int:
    """Return how many of some mistakes can be planted together."""
    if not among:
        return 0
    clashes = {number: len(among - apart[number]) - 1 for number in among}
    easy = min(among, key=lambda number: (clashes[number], number))
    if clashes[easy] <= 1:
        return 1 + _largest(among & apart[easy], apart)
    hard = max(among, key=lambda number: (clashes[number], number))
    return max(1 + _largest(among & apart[hard], apart), _largest(among - {hard}, apart))


def _planted(sound: str, chosen: list[Candidate]) -> Planted:
    merged = _merged(sound, [hunk for _, hunks in chosen for hunk in hunks])
    source = without_unused_imports(merged, sound)
    moved = len(source.splitlines()) - len(merged.splitlines())
    hunks = sorted((hunk, number) for number, (_, hunks) in enumerate(chosen) for hunk in hunks)
    changes: list[list[Change]] = [[] for _ in chosen]
    before = sound.splitlines()
    for (start, end, new), number in hunks:
        changes[number].append(Change(start + 1 + moved, new, tuple(before[start:end])))
        moved += len(new) - (end - start)
    plants = [
        Plant(mistake.id, mistake.title, mistake.explain, mistake.nudge, tuple(changes[number]))
        for number, (mistake, _) in enumerate(chosen)
    ]
    return Planted(source, sound, tuple(sorted(plants, key=lambda plant: plant.changes[0].line)))


def _change(document: dict[str, Any]) -> Change:
    return Change(document["line"], tuple(document["planted"]), tuple(document["sound"]))


def _occurs(block: Sequence[str], lines: list[str]) -> bool:
    wanted = [line.rstrip() for line in block if line.strip()]
    return any(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))
