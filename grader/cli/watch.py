"""Grading at every save: watch."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import catalog
from grader.catalog import Kata
from grader.cli.attempt import finished, graded, keep, page, record
from grader.cli.base import App, KataCommand, Target, examples, kata_names
from grader.cli.grading import one_device
from grader.cli.guard import refuse, touched
from grader.client.broken import error_report, unreadable
from grader.errors import BadAnswerFile, KataError, MockRuns, NoSuchFile, NotUtf8, UsageError
from grader.history import Summary
from grader.language import _
from grader.text import shown
from grader.watch.file_watcher import FileState, FileWatcher, Gone, Saved, Unreadable, WatchFailed
from grader.watch.keyboard import Keyboard
from grader.watch.mailbox import Mailbox
from grader.watch.signals import Signals
from grader.workspace import digest

if TYPE_CHECKING:
    from rich.console import Console

    from grader.show.watch import Display
    from grader.watch.worker import Job, News

RATED = ("1", "2", "3", "4")
"""Keys that correct the rating of the round that a pass has ended: again, hard, good, easy."""

Draw = Callable[["Console"], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How each save is graded."""

    case: str
    device: str
    seed: int | None
    as_lines: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What has become of the file of this name."""

    name: str
    state: FileState


@dataclass(frozen=True, slots=True)
class Resized:
    """The terminal has another size."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The program goes on after a stop."""


@click.command(
    "watch",
    cls=KataCommand,
    short_help="Grade your answer at every save.",
    epilog=examples("kata watch", "kata watch mha", "kata watch mha --case mask"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--case", default="", metavar="TEXT", help="Only the cases whose name contains TEXT.")
@click.option(
    "--device", default="", metavar="NAME", callback=one_device, help="Also run the device family on cuda or mps."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The same inputs at every save.")
@click.option("--debug", is_flag=True, help="Watch the debug round of the kata.")
@click.option("--format", "form", type=click.Choice(["lines"]), help="Print a line for each cause, for an editor.")
@click.pass_obj
def watch_command(
    app: App, *, kata: str | None, case: str, device: str, seed: int | None, debug: bool, form: str | None
) -> None:
    """Grade your answer to KATA at every save; without KATA, what you worked on last.

    On a terminal the verdict is drawn anew each time, and h shows a hint, t the task, n begins the next kata, f unfolds
    a long page and q ends the watch. In a pipe each verdict is a line. For an editor `--format lines` prints
    a line for each cause.
    """
    target = touched(app, kata, debug=debug)
    with suppress(NotUtf8):  # a version like any other, which fails
        app.answer(target.name)
    app.remember_workspace()
    with ExitStack() as opened:
        Watch(app, target, Options(case, device, seed, form == "lines"), opened).run()


class Watch:
    """The main thread of a watch: everything else posts to it what has happened."""

    def __init__(self, app: App, target: Target, options: Options, opened: ExitStack) -> None:
        # The server starts, and torch with it, before anything that takes time here.
        from grader.watch import worker  # noqa: PLC0415 - the session

        self._app = app
        self._target = target
        self._options = options
        self._opened = opened
        self._job: Job | None = None
        self._told_again: Job | None = None
        self._judged = ""
        self._page: Draw | None = None
        self._passed = self._true = self._leafing = self._rated = False
        self._over = False
        self._mail: Mailbox[Seen | News | Resized | Continued] = opened.enter_context(Mailbox())
        self._worker = worker.Worker(graded, self._mail.post)
        opened.callback(self._worker.close)
        self._worker.prepare(target.kata, app.lang)
        live = not options.as_lines and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._keyboard = Keyboard(wanted=live)
        self._display = self._displayed(live=live)
        self._watcher: FileWatcher | None = None

    def run(self) -> None:
        """Watch until somebody ends it."""
        self._opened.enter_context(
            Signals(
                resized=lambda: self._mail.post(Resized()),
                stopping=self._keyboard.give_back,
                continued=lambda: self._mail.post(Continued()),
            )
        )
        self._opened.enter_context(self._keyboard)
        self._opened.callback(self._display.end)
        self._opened.callback(self._look_away)
        self._look_at(self._target)
        while not self._over:
            letters, keys = self._mail.wait(self._keyboard)
            for letter in letters:
                self._take(letter)
            for key in keys:
                self._press(key)

    def _displayed(self, *, live: bool) -> "Display":
        from grader.show.watch import Lines, Live  # noqa: PLC0415 - while torch is loading

        whole = not self._options.case
        display: Display
        if self._options.as_lines:
            from grader.show.problems import Problems  # noqa: PLC0415 - for editors

            display = Problems(whole=whole)
        else:
            display = Live() if live else Lines(whole=whole)
        self._app.voice = display.note
        return display

    def _look_at(self, target: Target) -> None:
        self._look_away()
        self._worker.withdraw()
        self._target, self._job, self._judged, self._page, self._leafing = target, None, "", None, False
        self._rated = False
        self._passed = self._app.done().get(target.name, Summary()).passed
        path = self._app.workspace.path(target.name)
        self._display.about(target.typed, shown(path))
        self._watcher = FileWatcher(path, lambda state: self._mail.post(Seen(target.name, state)))

    def _look_away(self) -> None:
        if self._watcher:
            self._watcher.close()
            self._watcher = None

    def _take(self, letter: "Seen | News | Resized | Continued") -> None:
        if isinstance(letter, Resized):
            self._display.redraw()
        elif isinstance(letter, Continued):
            self._keyboard.take()
            self._display.redraw(anew=True)
        elif isinstance(letter, Seen):
            # Of the kata before, the last letters may still be on their way.
            if letter.name == self._target.name:
                self._see(letter.state)
        else:
            self._hear(letter)

    # --- what becomes of the file

    def _see(self, state: FileState) -> None:
        if isinstance(state, WatchFailed):
            raise state.error
        if isinstance(state, Saved):
            self._grade(state)
            return
        if isinstance(state, Unreadable) and isinstance(state.error, NotUtf8):
            self._fail(state.error)
            return
        self._job, self._true = None, False
        self._worker.withdraw()
        path = Path(shown(self._app.workspace.path(self._target.name)))
        if isinstance(state, Gone):
            error: UsageError = NoSuchFile(path, _("Waiting until it is back."))
            self._display.warn(_("gone"), error.in_one_line(), self._keys())
        else:
            error = BadAnswerFile(path, state.error.problem, state.error.hint)
            self._display.warn(_("not graded"), error.in_one_line(), self._keys())

    def _grade(self, saved: Saved) -> None:
        if self._job and self._job.digest == saved.digest:
            return
        if self._judged == saved.digest and self._true and not self._job:
            # A save that changes nothing.
            return
        if self._judged == saved.digest and self._page:
            # Gone and back, or changed back while the change was graded: its verdict is known.
            self._job, self._true, self._leafing = None, True, False
            self._worker.withdraw()
            self._display.tell(_("as graded before"), self._page, self._keys())
            return
        if not self._judged and not self._job and saved.source in self._beginnings():
            self._wait_for_a_beginning()
            return
        try:
            refuse(self._app, self._target.kata)  # the interview may have begun since
        except MockRuns as error:
            self._display.warn(_("not graded"), error.in_one_line(), self._keys())
            return
        self._job, self._true = self._asked(saved.source, saved.digest), False
        keep(self._app, self._job.name, saved.source)
        self._worker.submit(self._job)
        self._display.checking()

    def _fail(self, error: NotUtf8) -> None:
        """Show what fails without being graded."""
        text = digest(error.data)
        if self._judged == text and self._true and not self._job:
            return
        self._worker.withdraw()
        job = self._asked("", text)
        keep(self._app, job.name, error.data)
        self._show(job, unreadable(job.request, error), error.data)

    def _asked(self, source: str, text: str) -> "Job":
        from grader.client import session  # noqa: PLC0415 - it is there long since
        from grader.watch.worker import Job  # noqa: PLC0415 - likewise

        target, options = self._target, self._options
        request = session.Request(
            kata=target.kata,
            source=source,
            filename=shown(self._app.workspace.path(target.name)),
            seed=options.seed,
            case=options.case,
            device=options.device,
            lang=self._app.lang,
        )
        return Job(target.name, text, request)

    def _beginnings(self) -> list[str]:
        """Return the texts that `kata start` writes: nobody has answered yet."""
        return [] if self._target.debug else self._app.beginnings(catalog.find(self._target.kata))

    def _wait_for_a_beginning(self) -> None:
        from grader.show.watch import paragraph  # noqa: PLC0415 - rich is for people

        path = shown(self._app.workspace.path(self._target.name))
        sentence = _("Write your answer in {path}: each save is graded.").format(path=path)
        self._page, self._true = self._page or paragraph(sentence), True
        self._display.tell(_("waiting for your first save"), self._page, self._keys())

    # --- what becomes of a grading

    def _hear(self, news: "News") -> None:
        from grader.watch.worker import Broke, Crashed, Judged, Progress  # noqa: PLC0415 - the session

        if isinstance(news, Crashed):
            raise news.error
        if news.job is not self._job:
            if isinstance(news, Progress) and news.job is not self._told_again:
                # It began just when it was cancelled, and may not have heard it.
                self._told_again = news.job
                self._worker.cancel()
        elif isinstance(news, Progress):
            self._display.progress(news.event)
        elif isinstance(news, Judged):
            self._show(news.job, news.report, news.job.request.source)
        elif isinstance(news, Broke):
            if isinstance(news.error, UsageError):
                # A wish that cannot be fulfilled ends the watch.
                raise news.error
            self._show(news.job, error_report(news.job.request, news.error), news.job.request.source)
        else:
            # Cancelled in the place of the one before it.
            self._worker.submit(news.job)

    def _show(self, job: "Job", report: dict[str, object], source: str | bytes) -> None:
        whole = not self._options.case
        self._job, self._judged, self._true, self._leafing = None, job.digest, True, False
        report, planted = finished(self._app, self._target, report, whole=whole)
        ends = whole and report["verdict"] == "passed"
        self._passed |= ends
        self._rated = ends and not self._target.debug
        self._page = page(self._app, job.name, report, planted, whole=whole)
        self._display.judged(report, self._page, self._keys(), source if isinstance(source, str) else "")
        if report["verdict"] == "error":
            self._judged = ""  # the same text may be graded again: it was not its fault
        # After the verdict, which must not wait for a disk.
        record(self._app, job.name, source, report, whole=whole)

    # --- keys

    def _keys(self) -> list[tuple[str, str]]:
        after = self._after() if self._passed else None
        following = [("n", _("next: {kata}").format(kata=after.id))] if after else []
        keys = [("h", _("hint")), ("t", _("task")), *following, ("f", _("whole page"))]
        if self._rated:
            keys.append(("1-4", _("rate anew")))
        return keys if self._keyboard.listening else []

    def _press(self, key: str) -> None:
        if key == "q":
            self._over = True
        elif key == "h":
            self._hint()
        elif key == "t":
            self._task()
        elif key == "f":
            self._display.unfold()
        elif key == "n" and not self._leafing:
            self._next()
        elif self._rated and key in RATED:
            self._rate(int(key))
        elif self._page and self._true:
            self._leafing = False
            self._display.leaf(self._page, self._keys())

    def _hint(self) -> None:
        from grader.cli.hints import show_hint  # noqa: PLC0415 - only for those who ask
        from grader.show.watch import written  # noqa: PLC0415 - rich is for people

        another: list[bool] = []
        try:
            hint = written(lambda screen: another.append(show_hint(self._app, self._target, screen)))
        except KataError as error:
            self._display.note(error.in_one_line())
            return
        self._leafing = bool(self._page and self._true)
        more = [("h", _("next hint"))] if all(another) else []
        self._display.leaf(hint, [*more, ("f", _("whole page")), *self._way_back()])

    def _task(self) -> None:
        from grader.cli.task import task  # noqa: PLC0415 - only for those who ask
        from grader.show.watch import written  # noqa: PLC0415 - rich is for people

        chosen = catalog.find(self._target.kata)
        shown_again = written(lambda screen: task(chosen, self._app.lang, screen))
        self._leafing = bool(self._page and self._true)
        self._display.leaf(shown_again, [("f", _("whole page")), *self._way_back()])

    def _rate(self, rating: int) -> None:
        from grader.cli.review import rate_last  # noqa: PLC0415 - only for those who disagree

        try:
            self._display.note(rate_last(self._app, catalog.find(self._target.kata), rating))
        except KataError as error:
            self._display.note(error.in_one_line())

    def _way_back(self) -> list[tuple[str, str]]:
        return [(_("any other key"), _("back"))] if self._leafing else []

    def _after(self) -> Kata | None:
        passed = {kata_id for kata_id, summary in self._app.done().items() if summary.passed}
        return catalog.following(passed | {self._target.kata}, after=self._target.kata)

    def _next(self) -> None:
        from grader.cli.course import begin  # noqa: PLC0415 - only for those who go on
        from grader.show.watch import written  # noqa: PLC0415 - rich is for people

        if not self._passed:
            sentence = _("{kata} is not passed yet; `kata start KATA` begins another one all the same.")
            self._display.note(sentence.format(kata=self._target.kata))
            return
        after = self._after()
        if after is None:
            self._display.note(_("That was the last open kata of the course."))
            return
        try:
            task = written(lambda screen: begin(self._app, after, screen))
        except KataError as error:
            self._display.note(error.in_one_line())
            return
        self._look_at(Target(after.id, debug=False))
        self._worker.prepare(after.id, self._app.lang)
        self._page, self._true = task, True
