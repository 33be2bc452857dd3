"""A real browser: Debian's Chromium, or the one that CHROMIUM names, and what the tests do in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
)
AXE = Path(__file__).resolve().parents[2] / "grader" / "web" / "bundle" / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = os.environ.get("KATA_SHOTS")
"""A folder for pictures of the page, to be looked at."""


def missing() -> str:
    """Say what is missing for these tests, nothing where all is there."""
    if find_spec("playwright") is None:
        return "playwright is not installed: `make test-web` brings it"
    if executable() is None:
        return "there is no Chromium (`apt-get install chromium`, or CHROMIUM=PATH)"
    return ""


def executable() -> str | None:
    """Return the browser."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started() -> Iterator[Any]:
    """Start the browser."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not everybody has it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        yield browser
        browser.close()


WATCH_POLICY = """
window.forbidden = [];
document.addEventListener("securitypolicyviolation", (event) => {
  const inEditor = !event.target?.closest || event.target.closest(".cm-content");
  if (!(event.effectiveDirective.startsWith("style-src") && inEditor)) {
    window.forbidden.push(`${event.effectiveDirective} ${event.blockedURI} ${event.target?.outerHTML?.slice(0, 200)}`);
  }
});
"""


class Tab:
    """A tab, and what one does in it."""

    def __init__(self, page: Any, link: str) -> None:
        self.page, self.link = page, link
        self.errors: list[str] = []
        page.set_default_timeout(20_000)
        page.add_init_script(WATCH_POLICY)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        # What the server refuses, or does not answer, the browser notes as well. When a selection is written over,
        # Chromium itself gives what it puts in a style, which the policy forbids it: see `violations`.
        known = ("Failed to load resource", "Applying inline style")
        if message.type == "error" and not message.text.startswith(known):
            self.errors.append(message.text)

    def violations(self) -> list[str]:
        """Return what the page's policy has forbidden outside of the text that is being edited."""
        return self.page.evaluate("window.forbidden ?? []")

    def open(self, where: str = "") -> Tab:
        """Open the link that the terminal shows, then something on the page."""
        self.page.goto(self.link)
        self.page.wait_for_selector("main h1")
        if where:
            self.go(where)
        return self

    def go(self, where: str) -> None:
        """Open something on the page that is there."""
        self.page.evaluate("where => { location.hash = '#/' + where; }", where)
        kata = where.split("/", maxsplit=1)[0]
        if kata not in {"mock", "talk"}:
            self.page.wait_for_function(
                "kata => document.querySelector('.head code')?.textContent.startsWith(kata)", arg=kata
            )

    def begin(self, kata: str, kind: str = "") -> None:
        """Begin a kata, and wait for the editor."""
        self.go(f"{kata}/{kind}".rstrip("/"))
        self.page.click(".begin button")
        self.page.wait_for_selector(".editor .cm-content")

    def write(self, text: str) -> None:
        """Put a text into the place of what the editor holds."""
        self.page.click(".cm-content")
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def text(self) -> str:
        """Return what the editor holds."""
        return "\n".join(self.page.locator(".cm-line").all_inner_texts()).replace("\u200b", "")

    def grade(self) -> None:
        """Grade it, and wait for the verdict on this text."""
        self.page.keyboard.press("Control+Enter")
        self.judged()

    def judged(self, text: str = "") -> None:
        """Wait for a verdict on what the editor holds."""
        self.page.wait_for_selector(".verdict:not(.stale) h2")
        if text:
            self.page.wait_for_selector(f".verdict:not(.stale) h2:has-text('{text}')")

    def reach(self, selector: str, most: int = 60) -> None:
        """Go somewhere with Tab alone."""
        for _ in range(most):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {selector}")

    def is_as_wide_as_the_window(self) -> bool:
        """Whether nothing has to be scrolled sideways."""
        return self.page.evaluate(
            "() => [document.scrollingElement, ...document.querySelectorAll('.frame, #main')]"
            ".every(one => one.scrollWidth <= one.clientWidth)"
        )

    def shoot(self, name: str) -> None:
        """Take a picture, where somebody wants to look at it."""
        if SHOTS:
            self.page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))

    def barriers(self) -> list[str]:
        """Return what axe finds that is serious or critical."""
        found = self.page.evaluate(AXE.read_text(encoding="utf-8") + ";\naxe.run()")
        return [
            f"{one['id']}: {node['html'][:200]} {node['failureSummary']}"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]
