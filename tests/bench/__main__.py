"""What `make bench` shows: how long commands and gradings take, as medians of ratios measured side by side.

Every repetition runs each thing once, next to what it is compared with, so that a machine that slows down slows both.
The first repetition is thrown away: it fills caches. Give the names of sections to run only these.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.console import Console

from tests.bench import commands, evaluation, gradings, layers, many, page, probes, saves
from tests.bench.table import measure, table_of

SECTIONS = ("commands", "saves", "gradings", "probes", "many", "layers", "memory", "eval", "web")
NOT_UNASKED = ("layers", "memory", "eval", "web")


def asked() -> argparse.Namespace:
    """Return what is to be measured, and how often."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all but the last four"
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
    screen = Console(highlight=False, width=120)
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as name:
        folder = Path(name)
        if "commands" in chosen:
            with commands.Commands(folder / "commands") as timed:
                measure(timed.rows(), options.repetitions, screen)
                screen.print(table_of(f"Whole commands, medians of {options.repetitions}", timed.rows()))
        if "saves" in chosen:
            screen.print(saves.table(folder / "saves", options.repetitions, screen))
        if "gradings" in chosen:
            screen.print(*gradings.tables(options.repetitions, screen))
        if "probes" in chosen:
            screen.print(probes.table(options.repetitions))
        if "many" in chosen:
            screen.print(many.table(folder / "many"))
        if "layers" in chosen:
            screen.print(layers.table(options.repetitions, screen))
        if "web" in chosen:
            screen.print(page.table(folder / "web", options.repetitions, screen))
        if "eval" in chosen:
            screen.print(evaluation.table(folder / "eval", options.samples))
        if "memory" in chosen:
            screen.print(many.memory(screen))


if __name__ == "__main__":
    main()
