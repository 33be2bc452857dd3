"""Where only those calls go that fail: it narrows a wide place."""

from __future__ import annotations

import pytest

from grader.client.session import Session
from tests.gradings import by_kata
from tests.judge.test_causes import changed, line_of, why

BRANCH = """\
            if mask.dim() == 2 and mask.size(0) == q.size(0) and (mask != mask[:1]).any():
                mask = mask[:, None, None]
            if mask.dim() == 3:
"""


@pytest.mark.parametrize(
    ("kata", "old", "new", "condition", "marked"),
    by_kata(
        pytest.param(
            "mha",
            "            if mask.dim() == 3:\n",
            BRANCH,
            "(mask != mask[:1]).any()",
            "mask[:, None, None]",
            id="a branch that few calls take",
        ),
    ),
)
def test_a_branch_that_only_failing_calls_take_is_the_place(
    session: Session, kata: str, old: str, new: str, condition: str, marked: str
) -> None:
    """With one more at most, where so few are looked at no further."""
    source = changed(kata, (old, new))
    cause = why(session, kata, source, named=False)[0]
    assert {line_of(source, condition), line_of(source, marked)} <= set(cause["lines"]), cause
    assert len(cause["lines"]) <= 3, cause
