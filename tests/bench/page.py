"""`kata web` in Chromium: from the command to the page, and from Ctrl-Enter to the verdict, beside `kata watch`."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from grader import catalog
from tests.bench.commands import KATA, PREPARING_SECONDS
from tests.bench.saves import Watched
from tests.bench.table import Row, measure, table_of
from tests.web import browser


class Paged:
    """A page of `kata web` with an answer that passes, on the server that stays."""

    def __init__(self, folder: Path, chromium: Any) -> None:
        folder.mkdir()
        self._folder, self._chromium = folder, chromium
        self._environment = os.environ | {"KATA_HOME": str(folder / "home"), "LANG": "C", "KATA_SERVER": "on"}
        self._command = [sys.executable, "-u", "-m", "grader"]
        self._text, self._saves = catalog.find(KATA).reference(), 0
        self._kata("start", KATA)
        (folder / "workspace" / catalog.filename(KATA)).write_text(self._text, encoding="utf-8")
        self._kata("grade", KATA)
        self._process, self._tab = self._opened()

    def open(self) -> None:
        """Start another one, and wait until its page is there, with the task and the editor."""
        process, tab = self._opened()
        tab.page.close()
        self._end(process)

    def save(self) -> None:
        """Press Ctrl-Enter, and wait for the verdict."""
        page = self._tab.page
        page.evaluate("document.querySelector('.verdict h2').dataset.old = 'yes'")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".verdict:not(.stale) h2.passed:not([data-old])")

    def type(self) -> None:
        """Change the text, which is no part of what is timed."""
        self._saves += 1
        self._tab.page.keyboard.press("Control+End")
        self._tab.page.keyboard.insert_text(f"# {self._saves}\n")

    def close(self) -> None:
        """End it."""
        self._end(self._process)
        self._kata("server", "stop")

    def _opened(self) -> tuple[subprocess.Popen[str], browser.Tab]:
        process = subprocess.Popen(
            [*self._command, "web", "--no-browser"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        tab = browser.Tab(self._chromium.new_page(), link)
        tab.page.goto(link)
        tab.page.wait_for_selector(".cm-content")
        return process, tab

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGINT)
        process.communicate()

    def _kata(self, *arguments: str) -> None:
        command = [*self._command, *arguments]
        subprocess.run(command, check=True, cwd=self._folder, env=self._environment, capture_output=True)


def table(folder: Path, repetitions: int, screen: Console) -> Table:
    """Time both in turn: a save in a terminal's watch, and one on the page."""
    if missing := browser.missing():
        sys.exit(missing)
    folder.mkdir()
    with ExitStack() as opened:
        chromium = opened.enter_context(browser.started())
        watched = Watched(folder / "watched")
        opened.callback(watched.close)
        paged = Paged(folder / "paged", chromium)
        opened.callback(paged.close)
        paged.type()
        paged.save()
        there = Row(
            "kata web: from the command to the page with task and editor", paged.open, target=1.0, in_seconds=True
        )
        there.rest = PREPARING_SECONDS
        watch = Row(f"kata watch {KATA}: from the save to the verdict", watched.save, rest=PREPARING_SECONDS)
        typed = Row("", paged.type)
        page = Row(f"kata web, {KATA}: from Ctrl-Enter to the verdict on the page", paged.save, rest=PREPARING_SECONDS)
        measure([there, watch, typed, page], repetitions, screen)
    longer = statistics.median(mine - other for mine, other in zip(page.seconds, watch.seconds, strict=True))
    title = f"The page, medians of {repetitions}; a verdict takes {1000 * longer:.0f} ms longer on it than in a watch"
    return table_of(title, [there, watch, page])
