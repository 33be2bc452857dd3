"""The client's side of a grading: starts the processes and waits for the report. Imports nothing of torch."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from grader import catalog
from grader.errors import GraderFailed, UsageError
from grader.sandbox import landlock
from grader.sandbox.layers import ALL_LAYERS
from grader.server import launch, lines

Event = dict[str, Any]
Report = dict[str, Any]
ALLOWANCE_SECONDS: Final = 90.0
"""How much longer than its own limit a grading may take before the client gives it up.

Importing torch on a slow disk.
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What to grade: the text of an answer, and the name under which its learner knows it."""

    kata: str
    source: str
    filename: str
    seed: int | None = None
    case: str = ""
    device: str = ""
    lang: str = "en"


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
    ) -> None:
        """Start the server. ``hidden`` are folders that no answer may read; the rest is there for tests."""
        self._door, theirs = socket.socketpair()
        try:
            tmp = tempfile.gettempdir()
        except FileNotFoundError as error:
            raise GraderFailed(f"no folder for temporary files can be written: {error}") from error
        default = "fork" if sys.platform.startswith("linux") else "fresh"
        settings = {
            "model": model or default,
            "tmp": tmp,
            "layers": list(layers),
            "read": [
                str(path)
                for path in landlock.readable([catalog.content_root(), Path(launch.PACKAGE_ROOT) / "grader", *hidden])
            ],
            "call_seconds": call_seconds,
        }
        document = json.dumps({"settings": settings, "fds": {"door": theirs.fileno()}})
        debug = {"KATA_DEBUG": "1"} if os.environ.get("KATA_DEBUG") else {}
        self._server = subprocess.Popen(
            [sys.executable, "-I", "-c", launch.BOOTSTRAP, "server", document, launch.PACKAGE_ROOT],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if debug else subprocess.PIPE,
            pass_fds=(theirs.fileno(),),
            env=launch.bare_environment(tmp) | debug,
            start_new_session=True,
        )
        theirs.close()

    def grade(self, request: Request, on_event: Callable[[Event], None] | None = None) -> Report:
        """Grade one answer. Raises GraderFailed for our own faults only: whatever the answer does is in the report."""
        seconds = catalog.find(request.kata).grading_seconds + ALLOWANCE_SECONDS
        report = self._ask({"op": "grade", **asdict(request)}, on_event or _ignore, seconds)
        if request.case and not report["cases"]:
            raise UsageError(
                f"No case has {request.case!r} in its id or title.",
                hint=f"See them all: kata grade {request.kata} --json",
            )
        return report

    def probe(self) -> Report:
        """Start a sandbox and say what holds in it."""
        return self._ask({"op": "probe"}, _ignore, ALLOWANCE_SECONDS)

    def close(self) -> None:
        """Let the server and everything below it end; waits for them."""
        self._door.close()
        try:
            self._server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        if self._server.stderr is not None:
            self._server.stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: dict[str, Any], on_event: Callable[[Event], None], seconds: float) -> Report:
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs:
                    lines.send(self._door, {}, (theirs.fileno(),))
                lines.send(ours, request)
                return self._listen(ours, on_event, time.monotonic() + seconds)
            except (BrokenPipeError, ConnectionResetError, EOFError):
                raise GraderFailed(self._why_it_ended()) from None

    def _listen(self, channel: socket.socket, on_event: Callable[[Event], None], deadline: float) -> Report:
        while True:
            channel.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                event, _ = lines.receive(channel)
            except TimeoutError:
                raise GraderFailed("the grading did not end in time and was given up") from None
            if event["event"] == "report":
                report: Report = event["report"]
                return report
            if event["event"] == "wrong-use":
                raise UsageError(event["message"], hint=event["hint"])
            if event["event"] == "failed":
                raise GraderFailed(
                    f"{event['message']}\n{event['trace']}" if os.environ.get("KATA_DEBUG") else event["message"]
                )
            on_event(event)

    def _why_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(timeout=1)
        if self._server.returncode is None or self._server.stderr is None:
            return "the judge ended without a report"
        last = self._server.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
        return (
            f"the server could not start: {last[0]}"
            if last
            else f"the server ended with status {self._server.returncode}"
        )


@contextmanager
def open() -> Iterator[Session]:  # noqa: A001 - session.open() reads as it should
    """Start a server at once, and end it with everything below it when the block ends."""
    with Session() as session:
        yield session
