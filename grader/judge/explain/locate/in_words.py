"""Where a named mistake stands by its words: an operation that the reference never calls, and the answer does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from grader.judge.explain.locate.flow import Flow, flow_of
from grader.judge.explain.locate.words import FEW, Located, listed
from grader.judge.explain.mistakes import Mistake, all_applied
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _

_WORD: Final = re.compile(r"'([A-Za-z_]\w{2,})'")
"""Names and attributes in what a statement says, and texts of one word."""


def locate_in_words(cases: Sequence[CaseOutcome], source: str, mistake: Mistake) -> Located | None:
    """Return the few statements of an answer that have a word of a mistake in them which the reference has nowhere."""
    check = next((case.check for case in cases if case.check is not None), None)
    text = next(all_applied((mistake,), check.grading.reference.text), None) if check is not None else None
    if check is None or text is None:
        return None
    model, flow = flow_of(check.grading.reference_text), flow_of(source)
    new = _words(flow_of(text)) - _words(model)
    found: dict[str, tuple[int, ...]] = {}
    for word in sorted(new):
        its = tuple(one.line for one in flow.every() if word in _said(one.text) and flow.is_own(one.line, model))
        if 0 < len(its) <= FEW:
            found[word] = its
    if not found:
        return None
    word = min(found, key=lambda one: (len(found[one]), one))
    lines = found[word]
    return Located(cases[0], lines, _("`{word}` stands in {where}.").format(word=word, where=listed(lines)))


def _words(flow: Flow) -> set[str]:
    return {word for one in flow.every() for word in _said(one.text)}


def _said(text: str) -> list[str]:
    return _WORD.findall(text)
