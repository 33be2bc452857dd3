"""The judge's end of a sandbox: every wait has a deadline, every reply is checked, nothing that arrives is believed.

Operations are written ahead and answered in order, so that judge and sandbox work at the same time. All streams are
drained in one loop that also writes, so that neither side can block the other.
"""

from __future__ import annotations

import os
import re
import secrets
import select
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn, Protocol

from grader.judge.failure import Ending, GradingTimeout, SandboxEnded
from grader.judge.workers.pending import MustResubmit, Pending, Reply, Told, how_it_ended, refused
from grader.language import _
from grader.sandbox import limits
from grader.transport import operations as sent
from grader.transport.operations import SEVERAL, Message, Payload, Several
from grader.transport.output import Output
from grader.transport.wire import WireError, frame_length, parse_frame, strings

MEMORY_BUDGET: Final = 1 << 30
START_SECONDS: Final = 60.0
WATCH_SECONDS: Final = 0.05
DRAIN_SECONDS: Final = 0.15
NAP_SECONDS: Final = 0.003
PRINT_SECONDS: Final = 0.01
"""So long may what was printed wait to be taken in, where nobody asks for it earlier."""
MANY_OPEN: Final = 8
"""With more operations than these still open, replies are taken in by the handful."""
GRACE_SECONDS: Final = 0.25
"""Who was left alone for so long has as much again: what it answered meanwhile is read before it is called late."""
OUTPUT_CAP: Final = 8 << 20
WRITE_BYTES: Final = 16 << 10


class Keeper(Protocol):
    """Who has started a sandbox and ends it."""

    def retire(self, pid: int) -> int | None:
        """End it with all that it started; returns its wait status."""

    def discard(self, pid: int) -> None:
        """End it in the background."""


class Sandbox:
    """One process with the learner's file in it."""

    def __init__(
        self, keeper: Keeper, pid: int, fds: list[int], preloaded: dict[Message, int], grading_deadline: float
    ) -> None:
        """``fds``: our ends of channel, diagnostics and output; ``preloaded``: what it has already, by its numbers."""
        self._keeper, self.pid, self._grading_deadline = keeper, pid, grading_deadline
        channel, self._diagnostics_fd, self._output_fd = fds
        self._channel = socket.socket(fileno=channel)
        self._diagnostics, self._output = Output(), Output(2 * OUTPUT_CAP)
        self._selector = selectors.DefaultSelector()
        self._channel.setblocking(False)
        self._selector.register(self._channel, selectors.EVENT_READ)
        for fd in (self._diagnostics_fd, self._output_fd):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)
        self._inbox, self._outbox = bytearray(), bytearray()
        self._writing = self._closed = False
        self._queue: deque[Pending] = deque()
        self._head_since = self._looked_after = time.monotonic()
        self._next_watch = self._grace = 0.0
        self._memory_cap = 4 * MEMORY_BUDGET
        self.alive = True
        self.filename = "answer.py"
        self.layers: list[str] = []
        self.gaps: list[str] = []
        self._ready = self._enqueue("", START_SECONDS)
        self._preloaded = dict(preloaded)

    def preload(self, several: Several) -> None:
        """Hand over operations that will be asked for later, before there is a file: unpacking them takes time."""
        first = 1 + max(self._preloaded.values(), default=-1)
        self._preloaded |= {message: number for number, message in enumerate(several, first)}
        nonce = secrets.token_hex(8)
        self._enqueue(nonce, START_SECONDS)
        self._outbox += sent.frame_to_preload(several, nonce, first)

    def attend(self) -> bool:
        """Attend to it for a moment. Returns whether it has not answered everything yet."""
        if self.alive and self._queue:
            self._write()
            self._turn()
        return self.alive and bool(self._queue)

    @property
    def is_waiting(self) -> bool:
        """Whether it is there and has nothing to say but what it was asked for."""
        return self.alive and (bool(self._queue) or not select.select([self._channel], [], [], 0)[0])

    def begin(self, grading_deadline: float) -> None:
        """Be used from now on, until then at most."""
        self._grading_deadline = grading_deadline

    def submit(self, message: Message, seconds: float, told: Told | None = None) -> Pending:
        """Ask for one operation, to be answered at most ``seconds`` after the one before it.

        ``told`` hears meanwhile how far it is, where it is a training.
        """
        if not self.alive:
            operation = Pending(self, "", seconds)
            operation.error = MustResubmit()
            return operation
        operation = self._enqueue(secrets.token_hex(8), seconds, told)
        self._outbox += message.frame(operation.nonce)
        if len(self._outbox) > WRITE_BYTES:
            self.flush()
        return operation

    def submit_together(self, several: Several, seconds: float) -> list[Pending]:
        """Ask for several operations at once, the next ones of which are to be answered after ``seconds``.

        Where the sandbox ends meanwhile, nobody knows which of them ended it: all of them are lost then.
        """
        nonce = secrets.token_hex(8)
        operations = [self._enqueue(f"{nonce}.{number}", seconds) for number in range(len(several))]
        for operation in operations:
            operation.together = nonce
        if all(message in self._preloaded for message in several):
            # each of them once: what is unpacked may be changed by the answer
            self._outbox += sent.frame_of_preloaded([self._preloaded.pop(message) for message in several], nonce)
        else:
            self._outbox += sent.frame_of(several, nonce)
        if len(self._outbox) > WRITE_BYTES:
            self.flush()
        return operations

    def flush(self) -> None:
        """Send what was asked for; waiting does it too."""
        if self.alive:
            self._write()

    def wait(self, operation: Pending) -> Reply:
        """Wait for an operation.

        Raises SandboxEnded or GradingTimeout where it ended the sandbox, MustResubmit where another did.
        """
        self.settle(operation)
        if operation.error is not None:
            raise operation.error
        assert operation.reply is not None
        try:
            return operation.reply, operation.payload()
        except WireError as error:
            raise SandboxEnded("protocol", refused(error)) from error

    def settle(self, operation: Pending) -> None:
        """Wait until it is known what came of an operation."""
        if not operation.settled:
            self.flush()
        while not operation.settled:
            self._turn()

    def retire(self) -> int | None:
        """Kill the process with all that it started and close everything. Safe to call twice."""
        if not self.alive:
            return None
        self.alive = False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        status = self._keeper.retire(self.pid)
        self._drain(0.0)
        self._close()
        return status

    def discard(self) -> None:
        """End a sandbox that is no longer needed, without waiting."""
        if self.alive:
            self.alive = False
            self._keeper.discard(self.pid)
            self._close()

    @property
    def confined(self) -> bool:
        """Whether the sandbox ever said that it was ready."""
        return self._ready.reply is not None

    def wait_ready(self) -> None:
        """Wait for the sandbox to be confined."""
        self.wait(self._ready)

    def _enqueue(self, nonce: str, seconds: float, told: Told | None = None) -> Pending:
        operation = Pending(self, nonce, seconds, told)
        if not self._queue:
            self._head_since = time.monotonic()
        self._queue.append(operation)
        return operation

    def _close(self) -> None:
        self._selector.close()
        self._channel.close()
        os.close(self._diagnostics_fd)
        os.close(self._output_fd)
        for operation in self._queue:
            operation.error = operation.error or MustResubmit()
        self._queue.clear()

    # --- the loop

    def _turn(self) -> None:
        """Wait for whatever comes next, a twentieth of a second at most. Endings are left in the first operation."""
        now = time.monotonic()
        deadline = self._deadline(now)
        try:
            if now >= deadline:
                self._too_late(now)
            if now >= self._next_watch:
                self._watch(now)
            for key, ready in self._came(min(deadline - now, WATCH_SECONDS)):
                if key.fd == self._diagnostics_fd:
                    self._read_stream(key.fd, self._diagnostics)
                elif key.fd == self._output_fd:
                    self._read_stream(key.fd, self._output)
                else:
                    if ready & selectors.EVENT_WRITE:
                        self._write()
                    if ready & selectors.EVENT_READ:
                        self._read_channel()
            if self._output.pending > OUTPUT_CAP:
                self._end("output", _("your code printed more than {size} MiB").format(size=OUTPUT_CAP >> 20))
            self._take_replies()
            if self._closed and self.alive:
                self._crashed()
        except WireError as error:
            with suppress(SandboxEnded):
                self._end("protocol", refused(error))
        except (SandboxEnded, GradingTimeout):
            pass  # it stands in the operation

    def _deadline(self, now: float) -> float:
        """Return until when the first operation is waited for: longer where another sandbox was, all the time."""
        if now - self._looked_after > GRACE_SECONDS:
            self._grace = now + GRACE_SECONDS
        self._looked_after = now
        return min(max(self._head_since + self._queue[0].seconds, self._grace), self._grading_deadline)

    def _came(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for what comes; to wake up for each reply, or each mark in the output, costs both sides a lot."""
        if self._queue[0].together:
            self._wait_for_the_channel(min(PRINT_SECONDS, seconds))
            seconds = 0.0
        elif len(self._queue) > MANY_OPEN:
            time.sleep(min(NAP_SECONDS, seconds))
        return self._selector.select(seconds)

    def _wait_for_the_channel(self, seconds: float) -> None:
        waits = select.poll()
        waits.register(self._channel, select.POLLIN | (select.POLLOUT if self._writing else 0))
        waits.poll(1000 * max(seconds, 0.0))

    def _watch(self, now: float) -> None:
        self._next_watch = now + WATCH_SECONDS
        resident = limits.resident_bytes(self.pid)
        if resident > self._memory_cap:
            self._end("memory", _("your code used more than {size} MiB of memory").format(size=MEMORY_BUDGET >> 20))

    def _write(self) -> None:
        if self._outbox:
            try:
                del self._outbox[: self._channel.send(self._outbox)]
            except BlockingIOError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                self._outbox.clear()
                self._closed = True
        if bool(self._outbox) != self._writing:
            self._writing = bool(self._outbox)
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._writing else 0)
            self._selector.modify(self._channel, events)

    def _read_channel(self) -> None:
        try:
            data = self._channel.recv(1 << 18)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        self._closed = not data
        self._inbox += data

    def _take_replies(self) -> None:
        while self._inbox:
            length = frame_length(self._inbox)
            if length is None or len(self._inbox) < length:
                return
            header, payload = parse_frame(bytes(self._inbox[:length]))
            del self._inbox[:length]
            if not self._queue:
                raise WireError("there are bytes after the reply")
            operation = self._queue[0]
            if header.get("kind") == SEVERAL:
                self._take_together(header, sent.read_once(payload))
                continue
            if header.get("nonce") != operation.nonce or type(header.get("kind")) is not str:
                raise WireError("the reply is stale or forged")
            if header["kind"] == "progress":
                operation.tell(header)
                continue
            if operation is self._ready:
                self.layers, self.gaps = strings(header.get("layers")), strings(header.get("gaps"))
                self._memory_cap = limits.resident_bytes(self.pid) + MEMORY_BUDGET
            else:
                self._read_stream(self._output_fd, self._output)
                operation.printed = self._output.up_to(operation.nonce, self._more_output)
            now = time.monotonic()
            operation.reply, operation.payload, operation.took = header, sent.read_once(payload), now - self._head_since
            self._queue.popleft()
            self._head_since = now

    def _take_together(self, header: dict[str, Any], payload: Payload) -> None:
        nonce, replies = header.get("nonce"), header.get("replies")
        if type(nonce) is not str or not nonce or type(replies) is not list or not replies:
            raise WireError("a malformed reply")
        self._read_stream(self._output_fd, self._output)
        now = time.monotonic()
        took = (now - self._head_since) / len(replies)
        for reply in replies:
            if not self._queue or self._queue[0].together != nonce:
                raise WireError("the reply is stale or forged")
            if type(reply) is not dict or type(reply.get("kind")) is not str:
                raise WireError("a malformed reply")
            operation = self._queue.popleft()
            operation.printed = self._output.up_to(operation.nonce, self._more_output)
            operation.reply, operation.payload, operation.took = reply, payload, took
        self._head_since = now

    def _more_output(self) -> bool:
        return self._read_stream(self._output_fd, self._output)

    def _read_stream(self, fd: int, into: Output) -> bool:
        try:
            data = os.read(fd, 1 << 16)
        except (BlockingIOError, OSError):
            return False
        if data:
            into.add(data)
        else:
            with suppress(KeyError, ValueError):
                self._selector.unregister(fd)
        return bool(data)

    def _drain(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Read what is there on output and diagnostics; never waits for their ends, which a stray process may hold."""
        deadline = time.monotonic() + seconds
        while not until():
            more = self._read_stream(self._output_fd, self._output) | self._read_stream(
                self._diagnostics_fd, self._diagnostics
            )
            if self._output.pending > OUTPUT_CAP or (not more and time.monotonic() >= deadline):
                return
            if not more:
                time.sleep(0.002)

    # --- endings

    def _end(self, ending: Ending, sentence: str = "", line: int = 0) -> NoReturn:
        """Retire it; without a sentence its status says how it ended by itself."""
        head = self._queue.popleft() if self._queue else Pending(self, "", 0.0)
        status = self.retire()
        ended = SandboxEnded(ending, sentence or how_it_ended(status), line, head.seconds)
        head.error = MustResubmit() if head.together else ended
        head.printed = self._output.rest()
        raise ended

    def _too_late(self, now: float) -> NoReturn:
        if now >= self._grading_deadline:
            for operation in self._queue:
                operation.error = GradingTimeout()
            self.retire()
            raise GradingTimeout
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, limits.WHERE_ARE_YOU)
        self._drain(DRAIN_SECONDS, until=lambda: bool(self._learner_line()))
        self._end("timeout", _("your code gave no answer in time"), self._learner_line())

    def _crashed(self) -> NoReturn:
        with suppress(ValueError, KeyError, OSError):
            self._selector.unregister(self._channel)
        self._drain(DRAIN_SECONDS, until=lambda: bool(self._learner_line()))
        self._end("crashed", line=self._learner_line())

    def _learner_line(self) -> int:
        """The innermost line of the learner's file in what faulthandler wrote."""
        match = re.search(rf'File "{re.escape(self.filename)}", line (\d+)', self._diagnostics.text())
        return int(match[1]) if match else 0
