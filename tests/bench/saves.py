"""From a save to the verdict in `kata watch`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader import catalog
from tests.bench.commands import IDLE_SECONDS, KATA
from tests.bench.table import Row, baseline, measure, table_of


class Watched:
    """A `kata watch` whose verdicts are read from a pipe, a line each."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._environment = os.environ | {"KATA_HOME": str(folder / "home"), "LANG": "C", "KATA_SERVER": "off"}
        self._command = [sys.executable, "-u", "-m", "grader"]
        self._folder = folder
        subprocess.run(
            [*self._command, "start", KATA], cwd=folder, env=self._environment, check=True, capture_output=True
        )
        self._answer = folder / "workspace" / catalog.filename(KATA)
        self._text, self._saves = catalog.find(KATA).reference(), 0
        self._answer.write_text(self._text, encoding="utf-8")
        self._process = subprocess.Popen(
            [*self._command, "watch", KATA], cwd=folder, env=self._environment, stdout=subprocess.PIPE, text=True
        )
        self._verdict()

    def save(self) -> None:
        """Save as editors do, by a rename, and wait for the verdict."""
        self._saves += 1
        other = self._answer.with_suffix(".new")
        other.write_text(f"{self._text}\n# {self._saves}\n", encoding="utf-8")
        other.replace(self._answer)
        self._verdict()

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.communicate()

    def _verdict(self) -> None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if "passed" not in line:
            sys.exit(f"kata watch says: {line}")


def table(folder: Path, repetitions: int, screen: Console) -> Table:
    """Time saves with a pause before each, as a learner makes them."""
    watched = Watched(folder)
    name = f"kata watch {KATA}, all families, passing: from the save to the verdict"
    save = Row(name, watched.save, "torch", target=0.15, in_seconds=True)
    rows = [baseline("torch", rest=IDLE_SECONDS), save]
    measure(rows, repetitions, screen)
    watched.close()
    return table_of(f"Saves, medians of {repetitions}", rows)
