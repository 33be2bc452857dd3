"""The named holes of docs/holes.md: an answer that does just that, and the case that rejects it."""

from __future__ import annotations

import re

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import Known
from tests.gradings import SEED, answers_of, of_kata

KATAS = catalog.katas()
PAGE = catalog.content_root() / "docs" / "holes.md"
ROWS = re.findall(r"^\| `([\w-]+)` \| `(\w+)/(\w+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
KNOWN = {(kata.id, one.kind, one.name): one for kata in KATAS.values() for one in answers_of(kata.id)}


def test_the_page_has_holes() -> None:
    """Each row is read, and names an answer that is kept."""
    assert len(ROWS) == PAGE.read_text(encoding="utf-8").count("\n| `")
    assert [row for row in ROWS if row[:3] not in KNOWN] == []


@pytest.mark.grades
@pytest.mark.parametrize(
    ("known", "case"),
    [
        of_kata(kata, KNOWN[kata, kind, name], case.strip("`"), name=f"{kata}-{name}", shares=24)
        for kata, kind, name, case in ROWS
    ],
)
def test_each_hole_is_closed(session: Session, known: Known, case: str) -> None:
    """The case that the page names rejects the answer alone; what is accepted has passed a whole grading."""
    chosen = "" if known.accepted else case
    filename = KATAS[known.kata].filename
    request = Request(known.kata, known.source, filename, seed=SEED, case=chosen, explained=False)
    report = session.grade(request, many=True)
    assert (report["verdict"] == "passed") == known.accepted
    assert report["cases"], report["message"]  # what does not load is rejected by no case
