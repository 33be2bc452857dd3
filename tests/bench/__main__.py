"""What `make bench` shows: how long commands and gradings take, as medians of ratios measured side by side.

Every repetition runs each command once, next to what it is compared with, so that a machine that slows down slows
both. The first repetition is thrown away: it fills caches.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader import catalog
from grader.judge import mistakes
from grader.session import Request, Session

KATA = "mha"
BASELINES = {"torch": "import torch", "click": "import click"}


@dataclass
class Row:
    """One thing that is timed; the target is a ratio to what it is compared with, or seconds where that is nothing."""

    name: str
    run: Callable[[], None]
    against: str = ""
    target: float | None = None
    seconds: list[float] = field(default_factory=list)

    def time(self) -> None:
        """Run it once."""
        began = time.perf_counter()
        self.run()
        self.seconds.append(time.perf_counter() - began)


class Commands:
    """`kata` and plain Python as processes, in a folder with an answer that passes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = os.environ | {"KATA_HOME": str(folder / "home"), "KATA_WORKSPACE": "workspace", "LANG": "C"}
        self.kata("start", KATA)
        (folder / "workspace" / catalog.filename(KATA)).write_text(catalog.find(KATA).reference(), encoding="utf-8")

    def python(self, *arguments: str) -> None:
        """Run Python; it must end well."""
        subprocess.run(
            [sys.executable, *arguments],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def kata(self, *arguments: str) -> None:
        """Run a command of the tool."""
        self.python("-m", "grader", *arguments)

    def rows(self) -> list[Row]:
        """Return what is timed, baselines first."""

        def command(*arguments: str, against: str, target: float | None = None) -> Row:
            return Row(f"kata {' '.join(arguments)}", lambda: self.kata(*arguments), against, target)

        return [
            *(Row(f"python -c '{code}'", lambda code=code: self.python("-c", code)) for code in BASELINES.values()),
            command("grade", KATA, against="torch", target=1.6),
            command("list", against="click", target=3.0),
            command("start", KATA, against="click"),
            command("hint", KATA, against="click"),
            command("status", against="click"),
        ]


def gradings(session: Session) -> list[Row]:
    """Return the gradings that are timed on a server that has already started."""
    kata = catalog.find(KATA)
    reference = kata.reference()
    mistaken = mistakes.load(kata)[0].applied_to(reference)

    def grading(source: str, verdict: str) -> None:
        report = session.grade(Request(KATA, source, kata.filename))
        if report["verdict"] != verdict:
            wrong = [f"{case['id']}: {case['message']}" for case in report["cases"] if case["outcome"] == "failed"]
            sys.exit(
                f"{KATA} {report['verdict']} with seed {report['seed']}: {report['message']} {'; '.join(wrong[:3])}"
            )

    return [
        Row(f"{KATA}, all families, passing", lambda: grading(reference, "passed"), target=0.5),
        Row(f"{KATA}, all families, failing, with diagnosis", lambda: grading(mistaken, "failed")),
    ]


def measure(rows: list[Row], repetitions: int, screen: Console) -> None:
    """Time all rows in turn, once more than asked for; the first time does not count."""
    with screen.status("measuring") as status:
        for repetition in range(repetitions + 1):
            for row in rows:
                status.update(f"repetition {repetition} of {repetitions}: {row.name}")
                row.time()
    for row in rows:
        del row.seconds[0]


def table_of(title: str, rows: list[Row]) -> Table:
    """Return a table with medians, ratios and whether the targets hold."""
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for heading in ("median", "ratio", "target", "holds"):
        table.add_column(heading, justify="right")
    compared = {row.name: row.seconds for row in rows}
    for row in rows:
        value = median = statistics.median(row.seconds)
        ratio = ""
        if row.against:
            baseline = compared[f"python -c '{BASELINES[row.against]}'"]
            value = statistics.median(mine / theirs for mine, theirs in zip(row.seconds, baseline, strict=True))
            ratio = f"{value:.2f} x import {row.against}"
        target = "" if row.target is None else f"{row.target:.1f}{' x' if row.against else ' s'}"
        holds = "" if row.target is None else "yes" if value <= row.target else "no"
        table.add_row(row.name, f"{median * 1000:.0f} ms", ratio, target, holds)
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=11, help="how often everything is timed (default: 11)")
    repetitions = parser.parse_args().repetitions
    if repetitions < 1:
        parser.error("at least one repetition is needed")
    screen = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        rows = Commands(Path(name)).rows()
        measure(rows, repetitions, screen)
    screen.print(table_of(f"Whole commands, medians of {repetitions} repetitions", rows))
    with Session() as session:
        rows = gradings(session)
        measure(rows, repetitions, screen)
    screen.print(table_of(f"Gradings on a server that is running, medians of {repetitions}", rows))


if __name__ == "__main__":
    main()
