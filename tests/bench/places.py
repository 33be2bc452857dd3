"""Whether the places that are told hold the mistake: its lines are known, and no name is looked for.

    python -m tests.bench.places --each 3 [KATA...]

What is graded are the banks of the katas, as debug rounds plant them, and those answers under tests/answers that differ
from a right one in a few statements. A place holds the mistake where one of these statements is in it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import Known, known_answers
from grader.judge.explain.locate.statements import Statements
from tests.gradings import SEED
from tests.marked import marks

ROOM: Final = 3
"""A place is told well where it is at most so many statements."""
KINDS: Final = ("mistake", "wrong")


def chosen(kata: catalog.Kata, each: int, kinds: tuple[str, ...], *, skipped: int = 0) -> list[Known]:
    """Return the answers of a kata that are graded, always the same; others where some are skipped."""
    known = [answer for answer in known_answers(kata) if answer.kind in kinds and marks(answer)]
    random.Random(kata.id).shuffle(known)
    return known[skipped : skipped + each if each else None]


def place_of(report: dict[str, Any]) -> dict[str, Any]:
    """Return the cause that is told first of those with a line; empty where none has one."""
    causes = [cause for cause in report["causes"] if cause["lines"]]
    return next((cause for cause in causes if cause["id"] == "located"), causes[0] if causes else {})


def judged(report: dict[str, Any], answer: Known) -> dict[str, Any]:
    """Return what came of an answer: what its place is, and whether it holds the mistake."""
    cause, marked = place_of(report), marks(answer)
    case = next((case for case in report["cases"] if cause and case["id"] == cause["evidence"]["case"]), {})
    statements = Statements(answer.source)
    lines = {statements.of(line) for line in cause.get("lines", ())}
    return {
        "kata": answer.kata,
        "name": answer.name,
        "marked": sorted(marked),
        "lines": sorted(lines),
        "found": "nowhere" if not cause else "holds" if lines & marked else "misses",
        "case": case.get("id", ""),
        "kind": case.get("kind", ""),
        "told": cause["evidence"]["steps"] if cause else "",
        "seconds": report["spent"]["diagnosis"],
        "shares": len(cause["cases"]) / max(1, sum(len(one["cases"]) for one in report["causes"])) if cause else 0.0,
    }


def main() -> None:
    """Grade and count."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.places", description=__doc__)
    parser.add_argument("katas", nargs="*", metavar="KATA")
    parser.add_argument("--each", type=int, default=0, metavar="N", help="so many answers of each kata")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="but not the first N of them")
    parser.add_argument("--kind", choices=KINDS, action="append", help="the banks, or the kept answers; both unasked")
    parser.add_argument("--name", default="", help="only answers of this name")
    parser.add_argument("--json", type=Path, help="write a line for each answer there")
    parser.add_argument("--show", action="store_true", help="print those whose place holds the mistake, too")
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    with Session() as session:
        for kata in [catalog.find(name) for name in options.katas] or catalog.katas().values():
            for answer in chosen(kata, options.each, tuple(options.kind or KINDS), skipped=options.skip):
                if options.name and answer.name != options.name:
                    continue
                request = Request(kata.id, answer.source, kata.filename, seed=SEED, named=False)
                report = session.grade(request, many=True)
                if report["verdict"] == "passed" or (report["message"] and not report["cases"]):
                    continue
                found.append(one := judged(report, answer))
                if options.json:
                    with options.json.open("a") as file:
                        file.write(json.dumps(one) + "\n")
                if options.show or one["found"] != "holds":
                    what = f"{one['marked']} {one['lines']} {one['case']}: {one['told']}"
                    print(f"{one['found']:8} {one['kata']} {one['name']} {what}")  # noqa: T201
                    sys.stdout.flush()
    summary(found)


def summary(found: list[dict[str, Any]]) -> None:
    """Print how many places hold the mistake, and how narrow they are."""
    counts = Counter(one["found"] for one in found)
    placed = [one for one in found if one["found"] != "nowhere"]
    few = sum(len(one["lines"]) <= ROOM for one in placed)
    total, places = len(found) or 1, len(placed) or 1
    print(f"{len(found)} answers, {len(placed)} with a place ({100 * len(placed) / total:.1f} %)")  # noqa: T201
    print(f"the place holds the mistake: {counts['holds']} ({100 * counts['holds'] / places:.1f} %)")  # noqa: T201
    print(f"at most {ROOM} statements: {few} ({100 * few / places:.1f} %)")  # noqa: T201
    for group in ("", *sorted({one["kind"] for one in placed})):
        own = [one for one in placed if one["kind"] == group]
        if own:
            print(f"    {group}: {sum(one['found'] == 'holds' for one in own)} of {len(own)}")  # noqa: T201


if __name__ == "__main__":
    main()
