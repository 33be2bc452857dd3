"""The client's side of a grading: starts the processes and waits for the report. Imports nothing of torch."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

from grader import catalog
from grader.client import standing
from grader.client.judge_client import Cancelled as Cancelled  # noqa: PLC0414 - who grades may cancel
from grader.client.judge_client import GoneError, JudgeClient
from grader.errors import GraderFailed, UsageError
from grader.language import _
from grader.sandbox import landlock
from grader.sandbox.confine import ALL_LAYERS
from grader.server import launch
from grader.transport.request import Request as Request  # noqa: PLC0414 - who grades makes one

Event = dict[str, Any]
Report = dict[str, Any]
GONE: Final = (GoneError, BrokenPipeError, ConnectionResetError, EOFError, TimeoutError)
MOST_ATTEMPTS: Final = 3
MOST_WAITING: Final = 4
"""How many judges wait for a next answer, each with a sandbox or two."""
ALLOWANCE_SECONDS: Final = 90.0
"""How much longer than its own limit a grading may take before the client gives it up.

Importing torch on a slow disk.
"""


def _ignore(event: Event) -> None:
    """Take an event that nobody asked for."""
    del event


class Session:
    """A clean server and the gradings asked of it."""

    def __init__(
        self,
        *,
        hidden: tuple[Path, ...] = (),
        model: launch.Model | None = None,
        layers: tuple[str, ...] = ALL_LAYERS,
        call_seconds: float | None = None,
        keep: bool = True,
        stays: bool = False,
    ) -> None:
        """Start the server. ``hidden`` are folders that no answer may read; the rest is there for tests.

        ``keep``: whether judges wait for the next answer to their kata. ``stays``: whether a server that is there
        already will do, and one that is started shall be there for the next command.
        """
        self._keeps = keep
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, JudgeClient]] = []
        self._busy: list[JudgeClient] = []
        self._server: subprocess.Popen[bytes] | None = None
        self._settings = {
            "model": model or ("fork" if sys.platform.startswith("linux") else "fresh"),
            "tmp": folder_for_temporary_files(),
            "layers": list(layers),
            "read": [
                str(path)
                for path in landlock.readable([catalog.content_root(), Path(launch.PACKAGE_ROOT) / "grader", *hidden])
            ],
            "call_seconds": call_seconds,
        }
        door = standing.door(self._settings, leave) if stays and standing.is_wanted() else None
        self._is_own = door is None
        self._door = door or self._own_server()

    def _own_server(self) -> socket.socket:
        """Start a server that serves nobody else and ends with this session."""
        door, theirs = socket.socketpair()
        with theirs:
            self._server = start(self._settings, {"door": theirs.fileno()}, quiet=False)
        return door

    def grade(self, request: Request, on_event: Callable[[Event], None] | None = None, *, many: bool = False) -> Report:
        """Grade one answer. Raises GraderFailed for our own faults only: whatever the answer does is in the report.

        The judge stays for the next answer to the same kata; where there are ``many``, it prepares for them first.
        Several threads may grade at once. Raises Cancelled after :meth:`cancel`.
        """
        kata = catalog.find(request.kata)
        document = {"op": "grade", **asdict(request), "keep": self._keeps, "many": many}
        return self._with_judge(kata.id, document, on_event or _ignore, kata.grading_seconds + ALLOWANCE_SECONDS)

    def draw(self, request: Request, *, model: bool) -> Report:
        """Return what an answer computes of the example of its kata, and the ``model`` answer where it may be seen.

        Raises what :meth:`grade` does.
        """
        kata = catalog.find(request.kata)
        document = {"op": "draw", **asdict(request), "keep": self._keeps, "model": model}
        return self._with_judge(kata.id, document, _ignore, kata.grading_seconds + ALLOWANCE_SECONDS)

    def prepare(self, kata: str, lang: str = "en") -> None:
        """Have a judge prepare for the first answer to a kata; returns at once."""
        judge = self._idle(kata) or self._new_judge(kata, lang)
        with contextlib.suppress(OSError):
            judge.send({"op": "prepare", "kata": catalog.find(kata).id, "lang": lang, "keep": True})
            self._put_back(kata, judge)

    def cancel(self) -> None:
        """Give up the gradings that are running; each raises Cancelled."""
        with self._lock:
            for judge in self._busy:
                judge.cancel()

    def probe(self, lang: str = "en") -> Report:
        """Start a sandbox and say what holds in it."""
        with self._new_judge("", lang) as judge:
            return self._ask(judge, {"op": "probe", "lang": lang}, _ignore, ALLOWANCE_SECONDS)

    def close(self) -> None:
        """Let the server and everything below it end; waits for them."""
        with self._lock:
            for judge in (*(judge for _, judge in self._waiting), *self._busy):
                judge.close()
            self._waiting.clear()
        self._door.close()
        if self._server is None:
            return
        try:
            self._server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        if self._server.stderr is not None:
            self._server.stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # --- judges

    def _with_judge(
        self, kata: str, request: dict[str, Any], on_event: Callable[[Event], None], seconds: float
    ) -> Report:
        """Ask a judge that is there, or another one where that is no longer so."""
        while (judge := self._idle(kata)) is not None:
            with contextlib.suppress(*GONE):
                return self._keep_if_well(kata, judge, request, on_event, seconds)
        for attempt in range(MOST_ATTEMPTS):
            try:
                judge = self._new_judge(kata, request["lang"])
                return self._keep_if_well(kata, judge, request, on_event, seconds)
            except GONE:
                if attempt == MOST_ATTEMPTS - 1 or not self._take_another_server():
                    raise GraderFailed(self._why_it_ended()) from None
        raise AssertionError

    def _take_another_server(self) -> bool:
        """Where a server that was there has gone, start one of our own; where our own has gone, that is that."""
        if self._is_own:
            return False
        self._is_own = True
        self._door.close()
        self._door = self._own_server()
        return True

    def _keep_if_well(
        self, kata: str, judge: JudgeClient, request: dict[str, Any], on_event: Callable[[Event], None], seconds: float
    ) -> Report:
        with self._lock:
            self._busy.append(judge)
        well = False
        try:
            report = self._ask(judge, request, on_event, seconds)
            well = True
        except UsageError:
            well = True
            raise
        except Cancelled:
            well = not judge.hurried
            raise
        finally:
            with self._lock:
                self._busy.remove(judge)
            if well and self._keeps:
                self._put_back(kata, judge)
            else:
                judge.close()
        return report

    def _idle(self, kata: str) -> JudgeClient | None:
        with self._lock:
            for index, (name, _) in enumerate(self._waiting):
                if name == kata:
                    return self._waiting.pop(index)[1]
        return None

    def _put_back(self, kata: str, judge: JudgeClient) -> None:
        with self._lock:
            self._waiting.append((kata, judge))
            while len(self._waiting) > MOST_WAITING:
                self._waiting.pop(0)[1].close()

    def _new_judge(self, kata: str, lang: str) -> JudgeClient:
        with self._lock:
            return JudgeClient(self._door, kata, lang)

    def _ask(
        self, judge: JudgeClient, request: dict[str, Any], on_event: Callable[[Event], None], seconds: float
    ) -> Report:
        judge.send(request)
        deadline = time.monotonic() + seconds
        while True:
            event = judge.receive(deadline)
            if event["event"] == "report":
                report: Report = event["report"]
                return report
            if event["event"] == "another":
                raise GoneError
            if event["event"] == "cancelled":
                raise Cancelled
            if event["event"] == "wrong-use":
                raise UsageError(event["message"], hint=event["hint"])
            if event["event"] == "failed":
                raise GraderFailed(
                    f"{event['message']}\n{event['trace']}" if os.environ.get("KATA_DEBUG") else event["message"]
                )
            on_event(event)

    def _why_it_ended(self) -> str:
        if self._server is None:
            return _("the judge ended without a report")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(timeout=1)
        if self._server.returncode is None or self._server.stderr is None:
            return _("the judge ended without a report")
        last = self._server.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
        if last:
            return _("the server could not start: {reason}").format(reason=last[0])
        return _("the server ended with status {status}").format(status=self._server.returncode)


def folder_for_temporary_files() -> str:
    """Return where scratch folders are made."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        sentence = _("no folder for temporary files can be written: {problem}")
        raise GraderFailed(sentence.format(problem=error)) from error


def start(settings: dict[str, Any], fds: dict[str, int], *, quiet: bool = True) -> subprocess.Popen[bytes]:
    """Start a server; ``quiet``: nobody will read what it says when it fails."""
    debug = {"KATA_DEBUG": "1"} if os.environ.get("KATA_DEBUG") else {}
    return launch.spawn(
        "server",
        {"settings": settings, "fds": fds},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if debug else subprocess.DEVNULL if quiet else subprocess.PIPE,
        env=launch.bare_environment(settings["tmp"]) | debug,
        cwd="/",
    )


def leave(settings: dict[str, Any], fds: dict[str, int]) -> None:
    """Start a server that outlives us."""
    start(settings, fds).returncode = 0  # nobody waits for it here


@contextmanager
def open(*, stays: bool = False, keeps: bool = False) -> Iterator[Session]:  # noqa: A001 - session.open() reads as it should
    """Start a server at once, and end it with everything below it when the block ends.

    ``stays``: use the server that an earlier command has left, and leave it to the next one. ``keeps``: judges wait
    for the next answer there, too, as they do on a server of one's own.
    """
    with Session(stays=stays, keep=keeps or not stays) as session:
        yield session
