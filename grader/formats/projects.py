"""Files that let an editor or a test explorer grade: tasks.json of VS Code, and tests for pytest."""

from __future__ import annotations

from typing import Any, Final

from grader.formats.lines import BEGINS, ENDS

PROBLEM: Final = r"^(.+?):(\d+):(\d+): (error|warning): (.*) \[([\w./-]+)\]$"
"""What a line of `--format lines` looks like: file, line, column, severity, text, name."""

TESTS: Final = '''\
"""Your answers as tests: written by `kata init --pytest`, and yours to change.

An answer is graded once, when its first test runs; it is not executed in this process.
"""

from functools import cache
from pathlib import Path

import pytest

from grader import api, catalog

WORKSPACE = {workspace}


@cache
def report(kata: str) -> api.Report:
    """Grade an answer."""
    return api.grade(kata, (WORKSPACE / catalog.filename(kata)).read_bytes())


def answers() -> list[tuple[str, str]]:
    """Return what has been begun, family by family."""
    begun = [kata for kata in catalog.katas().values() if (WORKSPACE / kata.filename).is_file()]
    return [(kata.id, family) for kata in begun for family in kata.families]


@pytest.mark.parametrize(("kata", "family"), answers())
def test_answer(kata: str, family: str) -> None:
    """All cases of a family pass."""
    found = report(kata)
    if found["verdict"] == "error":
        pytest.skip(found["message"])
    if not found["cases"]:
        pytest.fail(found["message"], pytrace=False)
    failed = [case for case in found["cases"] if case["outcome"] not in ("passed", "skipped")]
    told = [[case[key] for key in ("title", "where", "call", "message")] for case in failed if case["family"] == family]
    if told:
        pytest.fail("\\n\\n".join("\\n".join(filter(None, parts)) for parts in told), pytrace=False)
'''


def tasks(command: list[str]) -> dict[str, Any]:
    """Return tasks.json for a command that starts kata."""
    matcher = {
        "owner": "kata",
        "source": "kata",
        "fileLocation": ["autoDetect", "${workspaceFolder}"],
        "pattern": {"regexp": PROBLEM, "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5, "code": 6},
    }
    background = {"activeOnStart": False, "beginsPattern": f"^{BEGINS} ", "endsPattern": f"^{ENDS} "}
    common = {"type": "process", "command": command[0], "options": {"cwd": "${workspaceFolder}"}}
    return {
        "version": "2.0.0",
        "tasks": [
            common
            | {
                "label": "kata: grade this file",
                "args": [*command[1:], "grade", "${file}", "--format", "lines"],
                "group": {"kind": "test", "isDefault": True},
                "presentation": {"reveal": "silent", "clear": True},
                "problemMatcher": matcher,
            },
            common
            | {
                "label": "kata: watch this file",
                "args": [*command[1:], "watch", "${file}", "--format", "lines"],
                "isBackground": True,
                "presentation": {"reveal": "silent", "panel": "dedicated"},
                "problemMatcher": matcher | {"background": background},
            },
        ],
    }
