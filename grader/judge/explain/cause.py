"""One reason why cases fail: how it is told, with one case as its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Final

from grader.catalog import FAMILIES
from grader.judge.explain.diagnosis import Diagnosis
from grader.judge.explain.levels import TOLD
from grader.judge.explain.locate.quoted import quoted
from grader.judge.explain.locate.words import Located, listed
from grader.judge.explain.picture import picture
from grader.judge.explain.report import line_of
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.text import clean

ENDED: Final = ("crashed", "memory", "output", "timeout")
"""Failures of an answer that did not come back, in whichever case."""
LONGEST_TITLE: Final = 120
LOCATED: Final = "located"
SEEN: Final = "seen"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why cases fail."""

    id: str
    """That of a known mistake, or what it depends on; "located" where only the place is known, "seen" where not even
    that is.
    """
    cases: tuple[CaseOutcome, ...]
    evidence: CaseOutcome
    mistake: Diagnosis | None = None
    located: Located | None = None

    def document(self, source: str, filename: str, lang: str) -> dict[str, Any]:
        """Return the entry of the report."""
        failure = self.evidence.failure
        lines = self.located.lines if self.located is not None else (failure.line,) if failure and failure.line else ()
        texts = {"title": "", "explain": "", "push": ""}
        if self.mistake is not None:
            mistake = self.mistake.mistake
            texts = {"title": mistake.title[lang], "explain": mistake.explain[lang], "push": mistake.nudge[lang]}
        elif self.id in TOLD:
            title, push = TOLD[self.id]
            texts |= {"title": _(title), "push": _(push)}
        else:
            texts |= {"title": self._title(), "push": self.located.push if self.located is not None else ""}
        edits = self.mistake.mistake.edits if self.mistake is not None else ()
        first = quoted(self.located, source, edits) if self.located is not None else next(iter(lines), 0)
        return {
            "id": self.id,
            **texts,
            "line": first,
            "lines": sorted(lines),
            "where": f"{filename}:{first}" if first else "",
            "code": line_of(source, first),
            "evidence": {
                "case": self.evidence.id,
                "steps": self.located.sentence if self.located is not None else "",
                "message": clean(failure.message, 1000) if failure else "",
                "call": clean(failure.call, 400) if failure else "",
                "picture": picture(self.evidence),
            },
            "cases": [case.id for case in self.cases],
        }

    @property
    def is_raised(self) -> bool:
        """Whether it ends in an error."""
        return self.evidence.failure is not None and self.evidence.failure.group == "error"

    @property
    def is_missing(self) -> bool:
        """Whether something that the task names is not there: nothing can be said of it but that."""
        return self.evidence.failure is not None and self.evidence.failure.kind == "missing"

    def _title(self) -> str:
        """Return what a cause without a name is called: by its place, by the error that is raised, else by its case."""
        failure, located = self.evidence.failure, self.located
        said = clean(failure.message, 1000) if failure is not None else ""
        if located is not None and located.title:
            return located.title
        if located is None and failure is not None and failure.kind in ENDED:
            return shorten(said, LONGEST_TITLE, placeholder=" …")
        if located is None and (self.is_missing or self.evidence.is_out_of_bounds):
            return said  # all there is to say, whichever case it happened in
        if failure is not None and self.is_raised and (located is not None or not failure.line):
            return shorten(said, LONGEST_TITLE, placeholder=" …")
        if located is None:
            return self.evidence.title
        return _("It goes wrong in {where}").format(where=listed(located.lines))


def ordered(cases: Iterable[CaseOutcome]) -> tuple[CaseOutcome, ...]:
    """Return cases in the order in which families and cases come."""
    return tuple(sorted(cases, key=lambda case: (FAMILIES.index(case.family), case.case.position, case.id)))
