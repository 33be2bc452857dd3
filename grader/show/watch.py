"""What `kata watch` shows: a page that is drawn anew on a terminal, a line for each verdict in a pipe or a log."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from rich.console import Console, ConsoleDimensions
from rich.text import Text

from grader.language import _
from grader.show.colours import NOTE, PLACE
from grader.show.console import console
from grader.show.outcome import outcome
from grader.show.progress import explaining, training
from grader.text import cells

Draw = Callable[[Console], None]
Report = dict[str, Any]
Keys = Sequence[tuple[str, str]]

PROGRESS_SECONDS: Final = 0.1
MOST_LINES_OF_KEYS: Final = 2
"""In a narrower window the keys stand without their words."""
_HOME, _CLEAR, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class Display(Protocol):
    """What a watch tells."""

    def about(self, name: str, path: str) -> None:
        """Say what is watched from now on."""

    def checking(self) -> None:
        """Say at once that a save was seen."""

    def progress(self, event: dict[str, Any]) -> None:
        """Take an event of the session: the plan, or how far it got."""

    def judged(self, report: Report, page: Draw, keys: Keys, source: str = "") -> None:
        """Show a verdict: its page, or a line, or lines about the source."""

    def tell(self, status: str, page: Draw, keys: Keys) -> None:
        """Say in a few words why there is no new verdict, and show a page."""

    def warn(self, status: str, sentence: str, keys: Keys) -> None:
        """Say what became of the file: what is shown is not true any more."""

    def leaf(self, page: Draw, keys: Keys) -> None:
        """Show a page that somebody asked for."""

    def note(self, sentence: str) -> None:
        """Say something beside the page."""

    def redraw(self, *, anew: bool = False) -> None:
        """Draw the page for the size that the terminal has now; `anew` where something else may stand there."""

    def unfold(self) -> None:
        """Show the whole page, or again as much as fits."""

    def end(self) -> None:
        """Leave the terminal to the shell."""


class Lines:
    """A pipe, a log: nothing is ever taken back."""

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._console = console()

    def about(self, name: str, path: str) -> None:
        """A line says itself what it is about."""

    def checking(self) -> None:
        """The verdict will do."""

    def progress(self, event: dict[str, Any]) -> None:
        """The verdict will do."""

    def judged(self, report: Report, page: Draw, keys: Keys, source: str = "") -> None:
        """Print the verdict."""
        del page, keys, source
        self._print(outcome(report, whole=self._whole))

    def tell(self, status: str, page: Draw, keys: Keys) -> None:
        """Nothing has happened."""

    def warn(self, status: str, sentence: str, keys: Keys) -> None:
        """Print the sentence."""
        del status, keys
        self._print(sentence)

    def leaf(self, page: Draw, keys: Keys) -> None:
        """Nobody can ask here."""

    def note(self, sentence: str) -> None:
        """Print it on standard error."""
        console(stderr=True).print(sentence, soft_wrap=True)

    def redraw(self, *, anew: bool = False) -> None:
        """Nothing to draw."""

    def unfold(self) -> None:
        """Nothing to unfold."""

    def end(self) -> None:
        """Nothing to leave."""

    def _print(self, line: str | Text) -> None:
        self._console.print(line, soft_wrap=True)
        sys.stdout.flush()


class Live:
    """A terminal: a head, a page cut to what fits, notes, the keys."""

    def __init__(self) -> None:
        self._name = self._path = self._status = ""
        self._page: Draw | None = None
        self._keys: Keys = ()
        self._notes: list[str] = []
        self._stale = self._full = self._scrolled = False
        self._total = self._height = 0
        self._drawn = 0.0
        self._folded: tuple[tuple[object, ...], list[str]] = ((), [])

    def about(self, name: str, path: str) -> None:
        """Say what is watched from now on."""
        self._name, self._path = name, path
        self._page, self._full = None, False

    def checking(self) -> None:
        """Say at once that a save was seen; what is below is not true any more, and dim."""
        self._status, self._stale = _("checking …"), True
        self._notes.clear()
        self._draw()

    def progress(self, event: dict[str, Any]) -> None:
        """Count the cases where a grading takes its time."""
        if event["event"] == "plan":
            self._total = event["total"]
        elif event["event"] == "explaining":
            self._say(explaining(event, self._total))
        elif event["event"] in ("progress", "training") and time.monotonic() - self._drawn > PROGRESS_SECONDS:
            self._say(training(event) if event["event"] == "training" else self._counted(event))

    def _say(self, status: str) -> None:
        self._status = status
        if not self._scrolled:
            self._write(_HOME + self._rendered(self._head)[0] + _REST_OF_LINE + self._below())
        self._drawn = time.monotonic()

    def _counted(self, event: dict[str, Any]) -> str:
        status = _("checking, case {done} of {total}").format(done=event["done"], total=self._total)
        if event["failed"]:
            status += _(", {failed} failed").format(failed=event["failed"])
        return status

    def judged(self, report: Report, page: Draw, keys: Keys, source: str = "") -> None:
        """Show the page of a verdict."""
        del report, source
        self.tell(time.strftime("%H:%M:%S"), page, keys)

    def tell(self, status: str, page: Draw, keys: Keys) -> None:
        """Show it in the head, above the page."""
        self._notes.clear()
        self._status, self._page, self._keys, self._stale = status, page, keys, False
        self._draw()

    def warn(self, status: str, sentence: str, keys: Keys) -> None:
        """Show it in the head, the sentence as a note, and the page dim."""
        self._notes[:] = [sentence]
        self._status, self._keys, self._stale = status, keys, True
        self._draw()

    def leaf(self, page: Draw, keys: Keys) -> None:
        """Show a page that somebody asked for."""
        self._page, self._keys, self._stale, self._full = page, keys, False, False
        self._notes.clear()
        self._draw()

    def note(self, sentence: str) -> None:
        """Show it below the page until the next save."""
        if sentence not in self._notes:
            self._notes.append(sentence)
            self._draw()

    def redraw(self, *, anew: bool = False) -> None:
        """Draw everything again."""
        self._scrolled |= anew
        self._draw()

    def unfold(self) -> None:
        """Turn between everything and as much as fits."""
        self._full = not self._full
        self._draw()

    def end(self) -> None:
        """Go on below the page."""
        self._write("\n")

    def _draw(self) -> None:
        height = _screen().height
        below = self._rendered(self._foot)
        head = [*self._rendered(self._head), ""]
        page = self._lines_of_page()
        room = max(3, height - len(head) - len(below) - 1)
        if len(page) > room and not self._full:
            more = _("… and {count} more lines: f").format(count=len(page) - room + 1)
            page = [*page[: room - 1], f"{_DIM}{more}{_PLAIN}"]
        lines = [*head, *page, "", *below]
        fits = len(lines) <= height
        start = _HOME if fits and not self._scrolled else _HOME + _CLEAR
        self._write(start + f"{_REST_OF_LINE}\n".join(lines) + _REST_OF_LINE + _REST)
        self._scrolled, self._drawn = not fits, time.monotonic()
        self._height = len(lines)

    def _below(self) -> str:
        """Go from the head to the end of the page."""
        return f"\x1b[{self._height};1H"

    def _lines_of_page(self) -> list[str]:
        if self._page is None:
            return []
        key = (self._page, _screen().width, self._stale, self._full)
        if self._folded[0] != key:
            page: Draw = getattr(self._page, "whole", self._page) if self._full else self._page
            self._folded = key, self._rendered(page, dim=self._stale)
        return self._folded[1]

    def _head(self, target: Console) -> None:
        line = Text.assemble((self._name, "bold"), " · ", (self._status, PLACE))
        if target.width > cells(line.plain) + len(self._path):
            line.append(f" · {self._path}", "dim")
        target.print(line, no_wrap=True, overflow="ellipsis")

    def _foot(self, target: Console) -> None:
        for sentence in self._notes:
            target.print(Text(sentence, NOTE))
        keys = [*self._keys, ("q", _("quit"))] if self._keys else []
        lines = _in_lines([f"{key} {word}" for key, word in keys], target.width)
        if len(lines) > MOST_LINES_OF_KEYS:
            lines = [" ".join(key for key, _word in keys)]
        for line in lines:
            target.print(Text(line, "dim"), no_wrap=True, overflow="ellipsis")

    def _rendered(self, draw: Draw, *, dim: bool = False) -> list[str]:
        # What is dim as a whole has no colours of its own.
        target = _screen(plain=dim)
        with target.capture() as captured:
            draw(target)
        lines = captured.get().rstrip("\n").split("\n")
        return [f"{_DIM}{line}{_PLAIN}" for line in lines] if dim else lines

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _in_lines(items: Sequence[str], width: int) -> list[str]:
    """Return items in as few lines as they take, none of them cut where it fits."""
    found = [""]
    for item in items:
        longer = f"{found[-1]} · {item}" if found[-1] else item
        if found[-1] and cells(longer) > width:
            found.append(item)
        else:
            found[-1] = longer
    return found


def _screen(*, plain: bool = False) -> Console:
    """Return a console of the window's size, which may change: variables tell the one of the shell's start at best."""
    target = console(plain=plain)
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns = rows = 0
    if columns and rows:
        target.size = ConsoleDimensions(columns, rows)
    return target


def paragraph(text: str) -> Draw:
    """Return a page with a text."""

    def draw(target: Console) -> None:
        target.print(Text(text))

    return draw


def written(show: Draw) -> Draw:
    """Return a page of what `show` writes, which it does once, now."""
    target = _screen()
    with target.capture() as captured:
        show(target)
    text = Text.from_ansi(captured.get())

    def draw(target: Console) -> None:
        target.print(text)

    return draw
