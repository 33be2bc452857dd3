"""Rows that are timed in turn, and the table of their medians."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

BASELINES = {"torch": "import torch", "click": "import click"}


@dataclass
class Row:
    """One thing that is timed; the target is a ratio to what it is compared with, or ``in_seconds``."""

    name: str
    run: Callable[[], object]
    against: str = ""
    target: float | None = None
    in_seconds: bool = False
    rest: float = 0.0
    """So many seconds pass before the next row: what it leaves running must not slow that one down."""
    seconds: list[float] = field(default_factory=list)

    def time(self) -> None:
        """Run it once."""
        began = time.perf_counter()
        self.run()
        self.seconds.append(time.perf_counter() - began)


def baseline(against: str, rest: float = 0.0) -> Row:
    """Return the row with which others are compared: an import in a process of its own."""
    code = BASELINES[against]
    return Row(_named(against), lambda: subprocess.run([sys.executable, "-c", code], check=True), rest=rest)


def _named(against: str) -> str:
    return f"python -c '{BASELINES[against]}'"


def measure(rows: list[Row], repetitions: int, screen: Console) -> None:
    """Time all rows in turn, once more than asked for; the first time does not count."""
    with screen.status("measuring") as status:
        for repetition in range(repetitions + 1):
            for row in rows:
                status.update(f"repetition {repetition} of {repetitions}: {row.name}")
                row.time()
                time.sleep(row.rest)
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
        text, unit = "", " s"
        if row.against:
            others = compared[_named(row.against)]
            ratio = statistics.median(mine / theirs for mine, theirs in zip(row.seconds, others, strict=True))
            text = f"{ratio:.2f} x import {row.against}"
            value, unit = (median, " s") if row.in_seconds else (ratio, " x")
        target = "" if row.target is None else f"{row.target:g}{unit}"
        holds = "" if row.target is None else "yes" if value <= row.target else "no"
        table.add_row(row.name, f"{median * 1000:.0f} ms", text, target, holds)
    return table
