"""Gradings on a server that is running, and where their time goes."""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from grader import catalog
from grader.client.session import Request, Session
from grader.judge.explain import mistakes
from tests.bench.commands import IDLE_SECONDS, KATA
from tests.bench.table import Row, table_of

STAGES = ("preparing", "cases", "diagnosis")


def tables(repetitions: int, screen: Console) -> tuple[Table, Table]:
    """Time a passing and a failing answer, with a pause before each grading."""
    kata = catalog.find(KATA)
    mistaken = mistakes.load(kata)[0].applied_to(kata.reference())
    reports: dict[str, list[dict[str, Any]]] = {"passed": [], "failed": []}

    with Session() as session:

        def grading(source: str, verdict: str) -> None:
            report = session.grade(Request(KATA, source, kata.filename))
            if report["verdict"] != verdict:
                wrong = [f"{case['id']}: {case['message']}" for case in report["cases"] if case["outcome"] == "failed"]
                sys.exit(f"{KATA} {report['verdict']} with seed {report['seed']}: {'; '.join(wrong[:3])}")
            reports[verdict].append(report)

        rows = [
            Row(f"{KATA}, all families, passing", lambda: grading(kata.reference(), "passed"), target=0.5),
            Row(f"{KATA}, all families, failing, with diagnosis", lambda: grading(mistaken, "failed")),
        ]
        with screen.status("grading"):
            for _repetition in range(repetitions + 1):
                for row in rows:
                    time.sleep(IDLE_SECONDS)
                    row.time()
    for row in rows:
        del row.seconds[0]
    return table_of(f"Gradings by a judge that is prepared, medians of {repetitions}", rows), _stages(rows, reports)


def _stages(rows: list[Row], reports: dict[str, list[dict[str, Any]]]) -> Table:
    table = Table(title="Where the time of these gradings goes", title_justify="left")
    table.add_column("")
    for name in reports:
        table.add_column(name, justify="right")
    columns = [[report["spent"] for report in found[1:]] for found in reports.values()]
    for stage in STAGES:
        medians = [statistics.median(spent[stage] for spent in column) for column in columns]
        table.add_row(stage, *(f"{1000 * median:.0f} ms" for median in medians))
    whole = [statistics.median(row.seconds) for row in rows]
    inside = [statistics.median(sum(spent.values()) for spent in column) for column in columns]
    outside = [max(0.0, all_of_it - part) for all_of_it, part in zip(whole, inside, strict=True)]
    table.add_row("request and report on their way", *(f"{1000 * seconds:.0f} ms" for seconds in outside))
    target = "" if statistics.median(spent["diagnosis"] for spent in columns[1]) > 0.15 else " (target 150 ms: holds)"
    table.caption = f"diagnosis of a failing answer{target}"
    return table
