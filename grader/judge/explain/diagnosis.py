"""What is said of an answer: a known mistake, and the cases in which it does what the answer did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grader.judge.explain.mistakes import Mistake
from grader.judge.runs.outcome import CaseOutcome


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake and the failing cases in which it did what the answer did."""

    mistake: Mistake
    cases: tuple[str, ...]
    together: bool = False
    """Whether the answer makes it and another one; several that are not together are guesses at one."""
    beside: tuple[Mistake, ...] = ()
    """The others that the answer makes in the same cases: alone it does not do what the answer did."""

    def document(self, lang: str) -> dict[str, Any]:
        """Return the entry of the report."""
        texts = {key: getattr(self.mistake, key)[lang] for key in ("title", "explain", "nudge")}
        about = {"hint": self.mistake.hint, "cases": list(self.cases), "together": self.together}
        return {"id": self.mistake.id, **texts, **about}


def diagnosis_of(mistake: Mistake, cases: list[CaseOutcome]) -> Diagnosis:
    """Return what is said of a mistake and the failing cases that it explains."""
    return Diagnosis(mistake, tuple(case.id for case in cases))


def both_of(*pairs: tuple[Mistake, list[CaseOutcome]]) -> list[Diagnosis]:
    """Return what is said of two mistakes in one file, each with its own failing cases."""
    return [Diagnosis(mistake, tuple(case.id for case in cases), together=True) for mistake, cases in pairs]
