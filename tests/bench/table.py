"""Rows that are timed in turn, and the table of their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

BASELINES = {"torch": "import torch", "click": "import click"}


@dataclass
class Row:
    """One thing that is timed; the target is a ratio to what it is compared with, or seconds where that is nothing."""

    name: str
    run: Callable[[], object]
    against: str = ""
    target: float | None = None
    seconds: list[float] = field(default_factory=list)

    def time(self) -> None:
        """Run it once."""
        began = time.perf_counter()
        self.run()
        self.seconds.append(time.perf_counter() - began)


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
        target = "" if row.target is None else f"{row.target:g}{' x' if row.against else ' s'}"
        holds = "" if row.target is None else "yes" if value <= row.target else "no"
        table.add_row(row.name, f"{median * 1000:.0f} ms", ratio, target, holds)
    return table
