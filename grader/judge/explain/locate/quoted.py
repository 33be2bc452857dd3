"""Which line of a place is quoted: the one to look at first."""

from __future__ import annotations

from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.words import Located


def quoted(place: Located, source: str) -> int:
    """Return the first line that the reference does not have word for word; of an error that where it is raised."""
    check, failure = place.case.check, place.case.failure
    if check is None or failure is None or failure.group == "error":
        return place.line
    flow, model = flow_of(source), flow_of(check.grading.reference_text)
    return next((line for line in place.lines if flow.is_own(line, model)), place.line)
