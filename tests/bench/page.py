"""`kata web` in Chromium: from the command to the page, and from Ctrl-Enter to the verdict, beside `kata watch`.

Chromium runs, with an empty tab; what is waited for is painted when the clock is stopped.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from grader import catalog
from tests.bench.commands import IDLE_SECONDS, KATA, PREPARING_SECONDS
from tests.bench.saves import Watched
from tests.bench.table import Row, baseline, measure, table_of
from tests.web import browser

WATCHING = """
// Resolves when something is there and has been painted: no time passes between two looks, and what a frame posts to
// itself comes as soon as that frame is drawn. To wait for the next frame would add the time between two of them.
const drawn = (done) => requestAnimationFrame(() => {
  const post = new MessageChannel();
  post.port1.onmessage = done;
  post.port2.postMessage(null);
});
window.painted = (selector) => new Promise((done) => {
  const look = () => {
    if (!document.querySelector(selector)) return false;
    watcher.disconnect();
    drawn(done);
    return true;
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document, { childList: true, subtree: true, attributes: true });
  look();
});
window.there = window.painted(".cm-content");
"""


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
        self._page, self._next = self._tab(), self._tab()
        self._process = self._opened(self._page)

    def open(self) -> None:
        """Start another one in a tab that is there, and wait until task and editor are painted."""
        self._other = self._opened(self._next)

    def leave(self) -> None:
        """End that one, which is no part of what is timed."""
        self._end(self._other)
        self._next.close()
        self._next = self._tab()
        self._page.bring_to_front()

    def save(self) -> None:
        """Press Ctrl-Enter, and wait until the verdict is painted."""
        self._page.keyboard.press("Control+Enter")
        self._page.evaluate("window.judged")

    def type(self) -> None:
        """Change the text, which is no part of what is timed."""
        self._saves += 1
        self._page.click(".cm-content")
        self._page.keyboard.press("Control+End")
        self._page.keyboard.insert_text(f"# {self._saves}\n")
        self._page.evaluate(
            "() => { window.judged = window.painted('.verdict.stale')"
            ".then(() => window.painted('.verdict:not(.stale) h2.passed')); }"
        )

    def close(self) -> None:
        """End it."""
        self._end(self._process)
        self._kata("server", "stop")

    def _tab(self) -> Any:
        page = self._chromium.new_page()
        page.set_default_timeout(60_000)
        page.add_init_script(WATCHING)
        return page

    def _opened(self, page: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*self._command, "web", "--no-browser"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        page.goto(process.stdout.readline().split()[-1], wait_until="commit")
        page.evaluate("window.there")
        return process

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGINT)
        process.communicate()

    def _kata(self, *arguments: str) -> None:
        command = [*self._command, *arguments]
        subprocess.run(command, check=True, cwd=self._folder, env=self._environment, capture_output=True)


def tables(folder: Path, repetitions: int, screen: Console) -> Iterator[Table]:
    """Time pages beside what the machine is worth; then, when no other page gets ready, verdicts beside a watch's."""
    if missing := browser.missing():
        sys.exit(missing)
    folder.mkdir()
    with ExitStack() as opened:
        chromium = opened.enter_context(browser.started())
        paged = Paged(folder / "paged", chromium)
        opened.callback(paged.close)
        torch = baseline("torch", rest=IDLE_SECONDS)
        there = Row("kata web: from the command to the page", paged.open, "torch", target=1.0, in_seconds=True)
        measure([torch, there, Row("", paged.leave, rest=PREPARING_SECONDS)], repetitions, screen)
        least = f"the quickest after {1000 * min(there.seconds):.0f} ms"
        yield table_of(f"Pages, medians of {repetitions}, {least}", [torch, there])
        watched = Watched(folder / "watched")
        opened.callback(watched.close)
        torch = baseline("torch", rest=IDLE_SECONDS)
        watch = Row(f"kata watch {KATA}: from the save to the verdict", watched.save, "torch", rest=PREPARING_SECONDS)
        typed = Row("", paged.type, rest=IDLE_SECONDS)
        page = Row(f"kata web, {KATA}: from Ctrl-Enter to the verdict", paged.save, "torch", rest=PREPARING_SECONDS)
        measure([torch, watch, typed, page], repetitions, screen)
        pairs = list(zip(page.seconds, watch.seconds, strict=True))
        longer = statistics.median(mine - other for mine, other in pairs)
        share = statistics.median(mine / other for mine, other in pairs)
        title = (
            f"Verdicts, medians of {repetitions}: {1000 * longer:.0f} ms longer on the page, {share:.2f} of a watch's"
        )
        yield table_of(title, [torch, watch, page])
