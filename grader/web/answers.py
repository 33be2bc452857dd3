"""The files that a page shows: what is in them, the grading that runs, the verdict. Each save is graded, as in a watch.

Everything here happens on the desk's thread, but for `Answer.seen`, which any thread may call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from grader import catalog, language
from grader.cli.afterwards import passed
from grader.cli.attempt import finished, graded, keep, record
from grader.cli.base import App, Target
from grader.cli.guard import refuse, running
from grader.client.broken import error_report, unreadable
from grader.client.session import Request
from grader.errors import BadAnswerFile, ChangedOnDisk, KataError, MockRuns, NoSuchFile, NotUtf8, UsageError
from grader.text import shown
from grader.watch.file_watcher import FileState, FileWatcher, Saved, Unreadable, WatchFailed
from grader.watch.worker import Broke, Crashed, Job, Judged, News, Progress, Worker
from grader.web.desk import Post
from grader.web.verdicts import Verdict, told
from grader.workspace import digest, read_answer

STEP_SECONDS: Final = 1.0
"""So often at most the page is told how far a grading is, and not before: to draw that takes processors from it."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Progressing:
    """How far a grading is."""

    done: int = 0
    total: int = 0
    failed: int = 0
    is_over: bool = False
    """Whether all cases are decided and the judge looks for the cause."""


class Answer:
    """One file of the learner's, as its pages see it."""

    def __init__(self, app: App, target: Target, count: Iterator[int], post: Post, ring: Callable[[], None]) -> None:
        self._app, self._target, self._count, self._ring = app, target, count, ring
        self._path = app.any_workspace.path(target.name)
        self._langs: list[str] = []
        self._published: dict[str, Document] = {}
        self._text: str | None = None
        self._note = ""
        self._job: Job | None = None
        self._told_again: Job | None = None
        self._progress = Progressing()
        self._shown_at = 0.0
        self._verdict: Verdict | None = None
        self._told: tuple[Verdict | None, dict[str, Document]] = None, {}
        self._in_mock = target.kind == "mock"
        self._take(self._now())
        self._verdict = self._known()
        self._worker: Worker | None = None
        if not self._in_mock:
            self._worker = Worker(graded, lambda news: post(lambda _app: self._hear(news), self._lang), stays=True)
        self._post = post
        self._watcher: FileWatcher | None = None

    def attend(self, lang: str) -> None:
        """Take it that somebody looks at it, in a language: watch the file, and let a judge get ready.

        Not before: both take processors from the page, which has to come first.
        """
        self.speak(lang)
        if self._watcher:
            return
        self._watcher = FileWatcher(self._path, lambda state: self._post(lambda _app: self._look(state), self._lang))
        if self._worker and self.digest:
            self._worker.prepare(self._target.kata, self._app.lang)

    def close(self) -> None:
        """Stop looking and grading."""
        if self._watcher:
            self._watcher.close()
        if self._worker:
            self._worker.close()

    def seen(self, lang: str, after: int) -> Document | None:
        """Return what there is to see in a language, where it is newer; None where nobody has spoken it here yet."""
        document = self._published.get(lang)
        return document if document and document["number"] > after else None

    def speak(self, lang: str) -> Document:
        """Say everything in this language as well, from now on; return what there is to see."""
        if lang not in self._langs:
            self._langs.append(lang)
            self._publish()
        return self._published[lang]

    def again(self) -> None:
        """Say everything again: a mock interview has begun, or is over."""
        self._publish()

    def save(self, text: str, seen: str, *, grade: bool) -> None:
        """Write what was typed over the text that the page has ``seen``, named by its digest, and grade it.

        A save without a wish to ``grade`` is graded all the same where it brings something new, as in a watch. Raises
        ChangedOnDisk, with what the file holds shown first, and MockRuns.
        """
        if seen != self.digest:
            self._see(self._now())
            raise ChangedOnDisk(self._path)
        try:
            self._app.workspace.save(self._target.name, text, self._text, *self._beginnings())
        except ChangedOnDisk:
            self._see(self._now())
            raise
        self._text, self._note = text, ""
        if self._in_mock:
            keep(self._app, self._target.name, text)
            self._publish()
        else:
            self._grade(asked=grade)
        # The judge is at work; its verdict comes to this thread after these lines.
        self._app.remember_workspace()
        self._app.touch(self._target, named=True)

    def begun(self) -> None:
        """Look at once: the file was written by this program."""
        self._see(self._now())
        if self._worker:
            self._worker.prepare(self._target.kata, self._app.lang)

    @property
    def digest(self) -> str:
        """The name of the text that the file holds, empty where there is none to read."""
        return "" if self._text is None else digest(self._text.encode())

    # --- what becomes of the file

    def _now(self) -> FileState | None:
        try:
            source = read_answer(self._path)
        except NoSuchFile:
            return None
        except BadAnswerFile as error:
            return Unreadable(error)
        return Saved(source, digest(source.encode()))

    def _look(self, state: FileState) -> None:
        """Look what there is: what was seen may be older than what this program has just written."""
        if isinstance(state, WatchFailed):
            raise state.error
        self._see(self._now())

    def _see(self, state: FileState | None) -> None:
        if isinstance(state, Saved) and self._text == state.source:
            return
        before = self._text, self._note
        self._take(state)
        if before == (self._text, self._note):
            return
        if isinstance(state, Saved) and not self._in_mock:
            self._grade(asked=False)
            return
        self._withdraw()
        if isinstance(state, Unreadable) and isinstance(state.error, NotUtf8) and not self._in_mock:
            self._fail(state.error)
        self._publish()

    def _take(self, state: FileState | None) -> None:
        self._text, self._note = None, ""
        if isinstance(state, Saved):
            self._text = state.source
        elif isinstance(state, Unreadable):
            self._note = state.error.in_one_line()

    def _grade(self, *, asked: bool) -> None:
        """Grade the file; where nobody ``asked``, only if that brings something new."""
        text = self._text
        assert text is not None
        assert self._worker is not None
        known = self._verdict is not None and self._verdict.source == text
        if self._job and self._job.request.source == text:
            self._publish()
            return
        if not asked and (known or text in self._beginnings()):
            self._withdraw()
            self._publish()
            return
        try:
            refuse(self._app, self._target.kata)  # the interview may have begun since
        except MockRuns as error:
            self._note = error.in_one_line()
            self._publish()
            if asked:
                raise
            return
        self._job, self._progress = Job(self._target.name, digest(text.encode()), self._request(text)), Progressing()
        self._shown_at = time.monotonic()
        self._worker.submit(self._job)
        self._publish()
        # Its verdict comes to this thread after this line: what is graded is kept before it is in the history.
        keep(self._app, self._target.name, text)

    def _request(self, text: str) -> Request:
        return Request(kata=self._target.kata, source=text, filename=shown(self._path), lang=self._app.lang)

    def _fail(self, error: NotUtf8) -> None:
        """Show what fails without being graded."""
        keep(self._app, self._target.name, error.data)
        report = unreadable(self._request(""), error)
        self._verdict = Verdict("", report, _moment())
        record(self._app, self._target.name, error.data, report, whole=True)

    def _withdraw(self) -> None:
        self._job = None
        if self._worker:
            self._worker.withdraw()

    def _beginnings(self) -> list[str]:
        """Return the texts in which nobody has written anything yet."""
        return [] if self._target.debug else self._app.beginnings(catalog.find(self._target.kata))

    # --- what becomes of a grading

    def _hear(self, news: News) -> None:
        if isinstance(news, Crashed):
            raise news.error
        assert self._worker is not None
        if news.job is not self._job:
            if isinstance(news, Progress) and news.job is not self._told_again:
                # It began just when it was cancelled, and may not have heard it.
                self._told_again = news.job
                self._worker.cancel()
        elif isinstance(news, Progress):
            self._count_up(news.event)
        elif isinstance(news, Judged):
            self._judged(news.job, news.report)
        elif isinstance(news, Broke):
            if isinstance(news.error, UsageError):
                self._job, self._note = None, news.error.in_one_line()
                self._publish()
            else:
                self._judged(news.job, error_report(news.job.request, news.error))
        else:
            # Cancelled in the place of the one before it.
            self._worker.submit(news.job)

    def _count_up(self, event: Document) -> None:
        if event["event"] == "plan":
            self._progress = Progressing(total=event["total"])
        elif event["event"] == "progress":
            self._progress = replace(self._progress, done=event["done"], failed=event["failed"])
            now = time.monotonic()
            if now - self._shown_at > STEP_SECONDS:
                self._shown_at = now
                self._publish()
        elif event["event"] == "explaining":
            self._progress = replace(self._progress, done=self._progress.total, failed=event["failed"], is_over=True)
            self._publish()

    def _judged(self, job: Job, report: Document) -> None:
        report, _planted = finished(self._app, self._target, report, whole=True)
        self._job = None
        self._verdict = Verdict(job.request.source, report, _moment())
        # The verdict must not wait for the history.
        self._publish()
        if report["verdict"] == "passed":
            after = passed(self._app, self._target.name)
            if after:
                self._verdict = replace(self._verdict, after=after)
        record(self._app, self._target.name, job.request.source, report, whole=True)
        if self._verdict.after:
            self._publish()

    def _known(self) -> Verdict | None:
        """Return the verdict on this very text that the history knows."""
        text = self._text
        if text is None or self._in_mock or running(self._app):
            return None
        wanted = digest(text.encode())

        def last(history: Any) -> Verdict | None:
            found = [one for one in history.attempts(self._target.name) if one.digest == wanted and one.whole]
            if not found:
                return None
            return Verdict(text, history.report(found[-1].id), found[-1].at.astimezone())

        try:
            return self._app.ask(last, None, "")
        except KataError:
            return None

    # --- what the page sees

    @property
    def _lang(self) -> str:
        return self._langs[-1] if self._langs else self._app.lang

    def _publish(self) -> None:
        number, spoken = next(self._count), language.current()
        for lang in self._langs:
            language.use(lang)
            self._published[lang] = self._document(number)
        language.use(spoken)
        self._ring()

    def _is_asked(self) -> bool:
        """Tell whether a mock interview asks this kata: then nothing may help."""
        mock = running(self._app)
        return mock is not None and self._target.kata in mock.katas()

    def _words(self, verdict: Verdict) -> Document:
        """Return a verdict in the language that is spoken; made once, for it is told at every step of the next one."""
        if self._told[0] is not verdict:
            self._told = verdict, {}
        words = self._told[1]
        lang = language.current()
        if lang not in words:
            words[lang] = told(verdict)
        return words[lang]

    def _document(self, number: int) -> Document:
        verdict = None
        if self._verdict and not self._is_asked():
            verdict = self._words(self._verdict) | {"fits": self._verdict.source == self._text}
        progress = self._progress
        return {
            "number": number,
            "there": self._text is not None,
            "text": self._text,
            "digest": self.digest,
            "note": self._note,
            "checking": self._job is not None,
            "done": progress.done,
            "total": progress.total,
            "failed": progress.failed,
            "explaining": progress.is_over,
            "verdict": verdict,
        }


def _moment() -> datetime:
    return datetime.now().astimezone()
