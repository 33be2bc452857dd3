"""The result.json that an autograder of Classroom 50 leaves: classroom50/result/v1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Final

from grader.errors import UsageError
from grader.formats.rows import Report, Row, explanation, rounded, rows
from grader.language import _

SCHEMA: Final = "classroom50/result/v1"
REQUIRED: Final = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")


def classroom50(report: Report, points: int, environment: Mapping[str, str], *, explain: bool) -> str:
    """Return result.json for the submission that its runner names in variables. Raises UsageError without them.

    Scores are whole numbers there: the largest remainders get the points that rounding leaves. An error of the grader
    has no result: a command that ends with another status than 0 is one of the infrastructure.
    """
    missing = [name for name in REQUIRED if not environment.get(name)]
    if missing:
        sentence = _("Classroom 50 sets {names}, which are not set here.")
        raise UsageError(sentence.format(names=_(", ").join(missing)))
    found = rows(report, points)
    tests = [_test(row, most) for row, most in zip(found, _whole([row.most for row in found]), strict=True)]
    if explain and (text := explanation(report)):
        tests[0]["explanation"] = text
    document = {
        "schema": SCHEMA,
        "classroom": environment["CLASSROOM"],
        "assignment": environment["ASSIGNMENT"],
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "owner": environment.get("OWNER") or environment.get("USERNAME") or "",
        "submission": environment["SUBMISSION_TAG"],
        "commit": environment["COMMIT_URL"],
        "release": environment["RELEASE_URL"],
        "review": environment.get("REVIEW_URL") or environment["COMMIT_URL"],
        "datetime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }
    if not document["owner"]:
        del document["owner"]  # the runner stamps it
    return json.dumps(document, indent=2) + "\n"


def _test(row: Row, most: int) -> dict[str, Any]:
    share = row.score / row.most if row.most else Fraction(0)
    score = int(rounded(share * most, 0))
    return {"test-name": row.name, "passed": row.passed, "score": score, "max-score": most, "output": row.text}


def _whole(shares: list[Fraction]) -> list[int]:
    """Return whole numbers with the same sum, each next to its share."""
    found = [int(share) for share in shares]
    left = int(sum(shares)) - sum(found)
    order = sorted(range(len(shares)), key=lambda at: (found[at] - shares[at], at))
    for at in order[:left]:
        found[at] += 1
    return found
