"""What `make bench` shows: how long commands and gradings take, as medians of ratios measured side by side.

Every repetition runs each thing once, next to what it is compared with, so that a machine that slows down slows both.
The first repetition is thrown away: it fills caches. Give the names of sections to run only these.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console, RenderableType

from tests.bench import commands, evaluation, gradings, layers, many, nodes, page, probes, saves
from tests.bench.table import measure, table_of

SECTIONS = ("commands", "saves", "gradings", "probes", "many", "layers", "memory", "eval", "web", "cluster")
NOT_UNASKED = ("layers", "memory", "eval", "web", "cluster")


def asked() -> argparse.Namespace:
    """Return what is to be measured, and how often."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all but the last five"
    )
    parser.add_argument("--repetitions", type=int, default=20, help="how often everything is timed (default: 20)")
    parser.add_argument("--samples", type=int, default=2000, help="how many samples `eval` grades (default: 2000)")
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error("at least one repetition is needed")
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    return options


def main() -> None:
    """Measure and print."""
    options = asked()
    chosen = options.sections or [name for name in SECTIONS if name not in NOT_UNASKED]
    screen, often = Console(highlight=False, width=120), options.repetitions
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        folder = Path(name)
        tables: dict[str, Callable[[], Iterable[RenderableType]]] = {
            "commands": lambda: [whole_commands(folder / "commands", often, screen)],
            "saves": lambda: [saves.table(folder / "saves", often, screen)],
            "gradings": lambda: gradings.tables(often, screen),
            "probes": lambda: [probes.table(often)],
            "many": lambda: [many.table(folder / "many")],
            "layers": lambda: [layers.table(often, screen)],
            "memory": lambda: [many.memory(screen)],
            "eval": lambda: [evaluation.table(folder / "eval", options.samples)],
            "web": lambda: page.tables(folder / "web", often, screen),
            "cluster": lambda: [nodes.table(folder / "cluster", min(options.samples, 200))],
        }
        for section in SECTIONS:
            if section in chosen:
                screen.print(*tables[section]())


def whole_commands(folder: Path, often: int, screen: Console) -> RenderableType:
    """Time commands as they are typed."""
    with commands.Commands(folder) as timed:
        measure(timed.rows(), often, screen)
        return table_of(f"Whole commands, medians of {often}", timed.rows())


if __name__ == "__main__":
    main()
