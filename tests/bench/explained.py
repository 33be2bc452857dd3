"""How many wrong answers are explained: named, located, or neither.

    python -m tests.bench.explained --each 5 [KATA...]
    python -m tests.bench.explained --mutants 10

Each answer counts once, by its best cause: a known mistake, the lines among which the mistake is, or a case alone. The
answers are those under tests/answers, fewer with ``--each``; ``--mistakes`` adds the bank of each kata; ``--mutants``
takes general mutants of answers instead.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections import Counter
from typing import Any

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import Known, known_answers
from grader.dev.mutants.grading import general_mutants, sampled
from grader.judge.explain.locate.statements import Statements
from tests.gradings import SEED
from tests.marked import marks

ROOM = 3
"""A place is told well where it is at most so many statements."""


def how(report: dict[str, Any]) -> str:
    """Return how an answer is explained."""
    causes = report["causes"]
    if report["message"] and not report["cases"]:
        return "located"  # the file does not load, and the sentence says where
    if any(cause["id"] not in ("located", "seen") for cause in causes):
        return "named"
    if any(cause["id"] == "located" or cause["line"] for cause in causes):
        return "located"
    return "neither"


def chosen(kata: catalog.Kata, each: int, *, mistakes: bool) -> list[Known]:
    """Return the answers of a kata that are graded, always the same."""
    kinds = ("wrong", "mistake") if mistakes else ("wrong",)
    known = [answer for answer in known_answers(kata) if answer.kind in kinds]
    random.Random(kata.id).shuffle(known)
    return known[: each or None]


def mutated(kata: catalog.Kata, each: int) -> list[Known]:
    """Return so many general mutants of the answers to a kata, always the same."""
    mutants = sampled(general_mutants(kata), each, SEED)
    return [Known(kata.id, "wrong", mutant.name, mutant.source) for mutant in mutants]


def told_right(report: dict[str, Any], answer: Known) -> tuple[list[bool], list[bool]]:
    """Return whether the lines that are told first hold a wrong one, and whether the one that is quoted is wrong.

    Empty where either is not known; the second also where there is but one line.
    """
    marked, statements = marks(answer), Statements(answer.source)
    cause = next((cause for cause in report["causes"] if cause["lines"]), None)
    if cause is None or not marked:
        return [], []
    lines = {statements.of(line) for line in cause["lines"]}
    return [not marked.isdisjoint(lines)], [statements.of(cause["line"]) in marked] * (len(lines) > 1)


def _tell(of: str, which: str, true: list[bool]) -> None:
    """Say of how many something is true."""
    if true:
        print(f"of {len(true)} {of} {100 * sum(true) / len(true):.1f} % {which}")  # noqa: T201


def main() -> None:
    """Grade and count."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.explained", description=__doc__)
    parser.add_argument("katas", nargs="*", metavar="KATA")
    parser.add_argument("--each", type=int, default=0, metavar="N", help="so many answers of each kata")
    parser.add_argument("--mistakes", action="store_true", help="the bank of each kata as well")
    parser.add_argument("--show", action="store_true", help="print the causes of each answer")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="so many mutants of each kata instead")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    widths: list[int] = []
    seconds: list[float] = []
    held: list[bool] = []
    first: list[bool] = []
    with Session() as session:
        for kata in [catalog.find(name) for name in options.katas] or catalog.katas().values():
            known = chosen(kata, options.each, mistakes=options.mistakes)
            for answer in mutated(kata, options.mutants) if options.mutants else known:
                report = session.grade(Request(kata.id, answer.source, kata.filename, seed=SEED), many=True)
                if report["verdict"] == "passed":
                    continue
                found = how(report)
                counts[found] += 1
                seconds.append(report["spent"]["diagnosis"])
                holds, quotes = told_right(report, answer)
                held, first = held + holds, first + quotes
                widths += [len(cause["lines"]) for cause in report["causes"] if cause["id"] == "located"][:1]
                if found == "neither" or options.show:
                    print(f"{found:8} {kata.id} {answer.name}  {report['spent']['diagnosis']:.2f} s")  # noqa: T201
                    for cause in report["causes"]:
                        told = cause["evidence"]["steps"] or cause["evidence"]["message"]
                        print(f"         {cause['id']} {cause['lines']} {len(cause['cases'])} cases: {told[:110]}")  # noqa: T201
                    sys.stdout.flush()
    total = counts.total() or 1
    for found in ("named", "located", "neither"):
        print(f"{found:8} {counts[found]:5} {100 * counts[found] / total:5.1f} %")  # noqa: T201
    _tell("places", f"are at most {ROOM} statements", [width <= ROOM for width in widths])
    _tell("places whose wrong lines are known", "have one of them told first", held)
    _tell("places of several lines", "quote a wrong one", first)
    if seconds:
        spent = statistics.median(seconds), max(seconds)
        print(f"diagnosis: median {spent[0]:.2f} s, longest {spent[1]:.2f} s")  # noqa: T201


if __name__ == "__main__":
    main()
