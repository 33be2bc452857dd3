"""The known mistakes of a kata, ready to run, one by one and several in one file."""

from __future__ import annotations

from collections.abc import Iterator

from grader.judge.contract import Reference
from grader.judge.explain.mistakes import Mistake, all_applied, load
from grader.judge.explain.reproduce import MistakeRunner
from grader.judge.runs.recording import Recording


class Bank:
    """The known mistakes of a kata, ready to run."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._ready: list[tuple[Mistake, MistakeRunner]] = []
        self._several: dict[tuple[str, ...], MistakeRunner | None] = {}

    def singles(self) -> list[tuple[Mistake, MistakeRunner]]:
        """Return each mistake and what runs it."""
        if not self._ready:
            text = self._reference.text
            for mistake in load(self._reference.kata):
                run = MistakeRunner(mistake.applied_to(text), f"mistake {mistake.id}", frozenset((mistake.family,)))
                self._ready.append((mistake, run))
        return self._ready

    def rehearsed(self, seed: int, recordings: list[Recording]) -> Iterator[None]:
        """Have each mistake do what these runs ask for, one after the other: it remembers what it did.

        That does not depend on any answer.
        """
        for recording in recordings:
            for _mistake, run in self.singles():
                for _response in run.remembered(seed, recording.exchanges, looked=False):
                    pass
                yield

    def together(self, *mistakes: Mistake) -> MistakeRunner | None:
        """Return what runs some mistakes in one file; None where they cannot stand in one."""
        names = tuple(mistake.id for mistake in mistakes)
        if names not in self._several:
            families = frozenset(mistake.family for mistake in mistakes)
            texts = all_applied(mistakes, self._reference.text)
            runs = (_runner(text, f"mistakes {', '.join(names)}", families) for text in texts)
            self._several[names] = next((run for run in runs if run is not None), None)
        return self._several[names]


def _runner(text: str, filename: str, families: frozenset[str]) -> MistakeRunner | None:
    """Return what runs a text; None where edits that fit make no Python."""
    try:
        return MistakeRunner(text, filename, families)
    except SyntaxError:
        return None
