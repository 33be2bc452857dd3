"""A thread that grades what was asked for last, on one session that stays open."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from grader.client import session
from grader.errors import KataError, UsageError
from grader.pool import join

Document = dict[str, Any]
Grade = Callable[[session.Session, session.Request, Callable[[Document], None]], Document]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One grading that was asked for."""

    name: str
    """Under which workspace and history keep it."""
    digest: str
    request: session.Request


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a grading is."""

    job: Job
    event: Document


@dataclass(frozen=True, slots=True)
class Judged:
    """A grading has ended with a report."""

    job: Job
    report: Document


@dataclass(frozen=True, slots=True)
class Broke:
    """A grading has ended without one."""

    job: Job
    error: KataError


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A grading was cancelled."""

    job: Job


@dataclass(frozen=True, slots=True)
class Crashed:
    """The thread has ended, which it must not."""

    error: Exception


News = Progress | Judged | Broke | Withdrawn | Crashed
Prepare = tuple[str, str]


class Worker:
    """The thread; only the job that was asked for last counts."""

    def __init__(self, grade: Grade, tell: Callable[[News], None], *, stays: bool = False) -> None:
        """Start at once; `tell` is called from the thread.

        ``stays``: grade on the server that stays between commands, not on one that ends with this.
        """
        self._stays = stays
        self._grade = grade
        self._tell = tell
        self._orders: queue.SimpleQueue[Job | Prepare | None] = queue.SimpleQueue()
        self._latest: Job | None = None
        self._session: session.Session | None = None
        self._thread = threading.Thread(target=self._run, name="grader", daemon=True)
        self._thread.start()

    def prepare(self, kata: str, lang: str) -> None:
        """Let a judge get ready for this kata."""
        self._orders.put((kata, lang))

    def submit(self, job: Job) -> None:
        """Grade this, and nothing that was asked for before."""
        # Cancelled first: the new job must not hear it.
        self._latest = job
        self.cancel()
        self._orders.put(job)

    def withdraw(self) -> None:
        """Grade nothing of what was asked for."""
        self._latest = None
        self.cancel()

    def cancel(self) -> None:
        """End the grading that runs. One that is just about to begin may not hear it: its news then say so."""
        if grader := self._session:
            grader.cancel()

    def close(self) -> None:
        """End everything, and wait for the end."""
        self._latest = None
        self._orders.put(None)
        join([self._thread], self.cancel)

    def _run(self) -> None:
        try:
            with ExitStack() as opened:
                while (order := self._orders.get()) is not None:
                    if not isinstance(order, Job):
                        self._prepare(order, opened)
                    elif order is self._latest:
                        self._tell(self._outcome(order, opened))
        except Exception as error:  # noqa: BLE001 - the main thread raises it
            self._tell(Crashed(error))

    def _outcome(self, job: Job, opened: ExitStack) -> News:
        """Grade; a session that was fine and is no more (its server was killed, say) gets a successor, once."""
        while True:
            used = self._session is not None
            try:
                grader = self._open(opened)
                return Judged(job, self._grade(grader, job.request, lambda event: self._tell(Progress(job, event))))
            except session.Cancelled:
                return Withdrawn(job)
            except KataError as error:
                if isinstance(error, UsageError):
                    return Broke(job, error)
                self._close(opened)
                if not used:
                    return Broke(job, error)

    def _prepare(self, order: Prepare, opened: ExitStack) -> None:
        try:
            self._open(opened).prepare(*order)
        except (KataError, OSError):
            # What is wrong is told where it matters: by the first grading.
            self._close(opened)

    def _open(self, opened: ExitStack) -> session.Session:
        if self._session is None:
            self._session = opened.enter_context(session.open(stays=self._stays, keeps=True))
        return self._session

    def _close(self, opened: ExitStack) -> None:
        self._session = None
        opened.close()
