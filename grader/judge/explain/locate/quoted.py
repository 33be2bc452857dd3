"""Which line of a place is quoted: the one to look at first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.words import Located

WORD: Final = re.compile(r"\w+|[^\w\s]")
LIKE: Final = 0.5
"""A line that has so many of the words of a mistake, of those of both, is like it."""


def quoted(place: Located, source: str, edits: Sequence[tuple[str, str]] = ()) -> int:
    """Return the first line that the reference does not have word for word; of an error that where it is raised.

    ``edits``: what a mistake changes in the reference, if it has a name: the line that is like it is the one. Where it
    only leaves something out, that may be before any line: the first one is where it shows.
    """
    check, failure = place.case.check, place.case.failure
    if check is None or failure is None or failure.group == "error":
        return place.line
    flow, model = flow_of(source), flow_of(check.grading.reference_text)
    own = [line for line in place.lines if flow.is_own(line, model)]
    texts = source.splitlines()
    made = {line for _find, replace in edits for line in replace.splitlines()}
    made -= {line for find, _replace in edits for line in find.splitlines()}
    if edits and not made:
        return place.line
    like = {line: max((_alike(texts[line - 1], one) for one in made), default=0.0) for line in own}
    best = max(own, key=like.__getitem__, default=0)
    return best if best and like[best] >= LIKE else next(iter(own), place.line)


def _alike(one: str, two: str) -> float:
    """Return how many of the words of two lines are in both."""
    first, second = set(WORD.findall(one.partition("#")[0])), set(WORD.findall(two.partition("#")[0]))
    return len(first & second) / (len(first | second) or 1)
