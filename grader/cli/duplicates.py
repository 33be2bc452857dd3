"""Answers with the same text: graded once, and told of each by its own name.

A grading depends on the text and on the seed, and of many answers all get the same seed; of a model's samples half may
be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.cli.base import Target
from grader.errors import NotUtf8, UsageError
from grader.workspace import read_answer

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A file, what it answers, and whether it is the learner's own in the workspace."""

    path: Path
    target: Target
    own: bool


@dataclass(frozen=True, slots=True)
class Duplicates:
    """All answers that say the same about the same; ``unread`` tells why a file has no text, and stands alone."""

    answers: list[Answer]
    source: str | bytes
    unread: UsageError | None = None

    @property
    def is_source(self) -> bool:
        """Whether there is a version to keep: a file that is no text is one, too."""
        return self.unread is None or isinstance(self.unread, NotUtf8)

    @property
    def first(self) -> Answer:
        """The one that is graded."""
        return self.answers[0]


def grouped(answers: Iterable[Answer]) -> list[Duplicates]:
    """Read all answers, and put together those with the same text, where the first of them stands."""
    groups: dict[object, Duplicates] = {}
    for answer in answers:
        try:
            source = read_answer(answer.path)
        except NotUtf8 as error:
            groups[answer.path, len(groups)] = Duplicates([answer], error.data, error)
        except UsageError as error:
            groups[answer.path, len(groups)] = Duplicates([answer], "", error)
        else:
            groups.setdefault((answer.target, source), Duplicates([], source)).answers.append(answer)
    return list(groups.values())


def told_of(report: Report, filename: str) -> Report:
    """Return the report of an answer as that of a copy with another name."""
    old, new = Path(report["file"]).name, Path(filename).name
    name = re.compile(rf"(?<![\w.-]){re.escape(old)}(?!\w)")

    def renamed(document: Report) -> Report:
        return document | {
            key: name.sub(lambda _found: new, document[key])
            for key in ("message", "where", "repro")
            if document.get(key)
        }

    cases = [renamed(case) | {"remarks": list(map(renamed, case["remarks"]))} for case in report["cases"]]
    return renamed(report) | {"file": filename, "same_as": report["file"], "cases": cases}
