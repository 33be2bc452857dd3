"""Whole commands, from the shell to their end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from grader import catalog
from tests.bench.table import BASELINES, Row, baseline

KATA = "mha"
IDLE_SECONDS = 1.5
"""A learner reads a verdict before he saves again: the judge prepares meanwhile."""
PREPARING_SECONDS = 3.0
"""So long a server that stays is busy with the next answer after a grading."""


class Commands:
    """`kata` and plain Python as processes, in a folder with an answer that passes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        scratch = folder / "tmp"
        scratch.mkdir()
        self._folder = folder
        own = {"KATA_HOME": str(folder / "home"), "KATA_WORKSPACE": "workspace", "LANG": "C", "TMPDIR": str(scratch)}
        self._environment = os.environ | own
        self._rows: list[Row] = []
        self.kata("start", KATA)
        (folder / "workspace" / catalog.filename(KATA)).write_text(catalog.find(KATA).reference(), encoding="utf-8")

    def __enter__(self) -> Self:
        self.kata("grade", KATA)
        time.sleep(PREPARING_SECONDS)
        return self

    def __exit__(self, *raised: object) -> None:
        self.kata("server", "stop")

    def python(self, *arguments: str, **environment: str) -> None:
        """Run Python; it must end well."""
        subprocess.run(
            [sys.executable, *arguments],
            cwd=self._folder,
            env=self._environment | environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def kata(self, *arguments: str, **environment: str) -> None:
        """Run a command of the tool."""
        self.python("-m", "grader", *arguments, **environment)

    def rows(self) -> list[Row]:
        """Return what is timed, baselines first; always the same rows."""

        def command(*arguments: str, against: str, target: float, name: str = "", server: str = "off") -> Row:
            run = lambda: self.kata(*arguments, KATA_SERVER=server)  # noqa: E731 - it is the row's own
            rest = PREPARING_SECONDS if server == "on" else 0.0
            return Row(name or f"kata {' '.join(arguments)}", run, against, target, rest=rest)

        if not self._rows:
            grade = ("grade", KATA)
            self._rows = [
                *map(baseline, BASELINES),
                command(*grade, against="torch", target=1.5, name="kata grade mha, cold"),
                command(*grade, against="torch", target=0.35, name="kata grade mha, server running", server="on"),
                *(command(*words, against="click", target=2.5) for words in (["list"], ["start", KATA])),
                *(command(*words, against="click", target=2.5) for words in (["hint", KATA], ["status"])),
            ]
        return self._rows
