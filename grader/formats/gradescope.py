"""Gradescope's results.json."""

from __future__ import annotations

import json
from typing import Any

from grader.formats.rows import Report, Row, explanation, rounded, rows, total


def gradescope(report: Report, points: int, *, explain: bool) -> str:
    """Return results.json. An error of the grader has none: without the file Gradescope asks for another run."""
    found = rows(report, points)
    document: dict[str, Any] = {
        "score": float(total(found, 3)),  # thirds do not sum up
        "execution_time": max(1, round(report["seconds"])),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_test(row) for row in found],
        "extra_data": {
            key: report[key] for key in ("kata", "verdict", "seed", "device", "sandbox", "sandbox_gaps", "versions")
        },
    }
    if explain and (text := explanation(report)):
        document["output"] = text
    return json.dumps(document, indent=2) + "\n"


def _test(row: Row) -> dict[str, Any]:
    test: dict[str, Any] = {"name": row.name, "status": "passed" if row.passed else "failed", "output": row.text}
    if row.most:
        test |= {"score": float(rounded(row.score, 3)), "max_score": float(rounded(row.most, 3))}
    return test | {"visibility": "visible"}
