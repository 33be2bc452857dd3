"""The judge's end of a sandbox: every wait has a deadline, every reply is checked, nothing that arrives is believed.

All streams of the sandbox are drained in one loop that also writes the request, so that neither side can block the other.
"""

from __future__ import annotations

import os
import re
import secrets
import selectors
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Literal

import torch

from grader.sandbox import limits
from grader.sandbox.wire import WireError, frame, frame_length, load, parse_frame, save, strings
from grader.server import lines
from grader.text import clean

START_SECONDS: Final = 60.0
WATCH_SECONDS: Final = 0.05
DRAIN_SECONDS: Final = 0.15
OUTPUT_CAP: Final = 8 << 20
HEAD, TAIL = 8192, 2048
GRACE: Final = 0.25
MEMORY_BUDGET: Final = 1 << 30

Ending = Literal["timeout", "crashed", "memory", "output", "protocol"]


class SandboxEnded(Exception):
    """The sandbox did not answer and never will: why, in a sentence, and the learner's line if it is known."""

    def __init__(self, ending: Ending, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.ending = ending
        self.sentence = sentence
        self.line = line


class GradingTimeout(Exception):
    """The time for the whole grading is over."""


class Sink:
    """Keeps the start and the end of a stream and counts the rest."""

    def __init__(self) -> None:
        self._head, self._tail, self.total = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        """Take what arrived."""
        self.total += len(data)
        room = HEAD - len(self._head)
        self._head += data[:room] if room > 0 else b""
        rest = data[max(room, 0) :]
        if rest:
            self._tail = (self._tail + rest)[-TAIL:]

    def text(self) -> str:
        """Return the text, safe to show, with a note where something was left out."""
        if not self._tail:
            return clean(bytes(self._head), HEAD)
        left_out = self.total - len(self._head) - len(self._tail)
        gap = f"\n... [{left_out} bytes left out] ...\n" if left_out else ""
        return clean(bytes(self._head), HEAD) + gap + clean(bytes(self._tail), TAIL)


class KeeperLine:
    """The judge's line to its keeper, which starts and ends sandboxes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._promised: list[tuple[dict[str, Any], list[int]]] = []
        self._waiting = 0

    def ask(self, *, cpu_seconds: float) -> None:
        """Ask for a sandbox without waiting for it."""
        lines.send(self._control, {"op": "spawn", "memory": MEMORY_BUDGET, "cpu_seconds": cpu_seconds})
        self._waiting += 1

    def take(self) -> tuple[int, list[int]]:
        """Return the process id and the descriptors of the oldest sandbox that was asked for."""
        if not self._promised:
            self._collect()
        document, fds = self._promised.pop(0)
        return document["pid"], fds

    def retire(self, pid: int) -> int | None:
        """End a sandbox with all that it started; returns its wait status."""
        while self._waiting:
            self._collect()
        lines.send(self._control, {"op": "retire", "pid": pid})
        return lines.receive(self._control)[0]["status"]  # type: ignore[no-any-return]

    def discard(self, pid: int) -> None:
        """End a sandbox in the background."""
        lines.send(self._control, {"op": "discard", "pid": pid})

    def _collect(self) -> None:
        self._promised.append(lines.receive(self._control))
        self._waiting -= 1


class Sandbox:
    """One process with the learner's file in it."""

    def __init__(self, keeper: KeeperLine, pid: int, fds: list[int], grading_deadline: float) -> None:
        self._keeper = keeper
        self.pid = pid
        self._grading_deadline = grading_deadline
        channel, diagnostics, out, err = fds
        self._channel = socket.socket(fileno=channel)
        self._fds = [diagnostics, out, err]
        self._printed, self._diagnostics, self._output_total = Sink(), Sink(), 0
        self._selector = selectors.DefaultSelector()
        self._channel.setblocking(False)
        self._selector.register(self._channel, selectors.EVENT_READ)
        for fd in self._fds:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)
        self._buffer = bytearray()
        self._closed = False
        self._next_watch = 0.0
        self.alive = True
        self.filename = "answer.py"
        self.memory_cap = 4 * MEMORY_BUDGET
        self.layers: list[str] = []
        self.gaps: list[str] = []

    def wait_ready(self) -> None:
        """Wait for the sandbox to be confined. Raises SandboxEnded if it never is: the grader's own fault."""
        header, _ = self._reply("", time.monotonic() + START_SECONDS)
        self.layers, self.gaps = strings(header["layers"]), strings(header["gaps"])
        self.memory_cap = limits.resident_bytes(self.pid) + MEMORY_BUDGET

    def call(self, header: dict[str, Any], tensors: dict[str, torch.Tensor], seconds: float) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Send one message and wait for its reply, at most ``seconds``.

        Raises SandboxEnded when the sandbox dies, is killed or sends nonsense; GradingTimeout when the grading's own time is over.
        """
        now = time.monotonic()
        allowed = min(seconds, self._grading_deadline - now)
        if allowed <= 0:
            raise GradingTimeout
        nonce = secrets.token_hex(8)
        data = frame(header | {"nonce": nonce, "seconds": max(0.05, allowed - min(GRACE, allowed / 4))}, save(tensors))
        try:
            reply, payload = self._reply(nonce, now + allowed, data)
            return reply, load(payload)
        except WireError as error:
            self.retire()
            raise SandboxEnded("protocol", f"the process of your code sent a message that the grader refuses: {error}") from error
        except SandboxEnded as ended:
            if ended.ending == "timeout" and allowed < seconds:
                raise GradingTimeout from ended
            raise

    def take_printed(self) -> str:
        """Return what was printed since the last call of this method."""
        if self.alive:
            self._drain(0.0)
        text, self._printed = self._printed.text(), Sink()
        return text

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

    def _close(self) -> None:
        self._selector.close()
        self._channel.close()
        for fd in self._fds:
            os.close(fd)

    # --- the loop ------------------------------------------------------------------------------------------------------

    def _reply(self, nonce: str, deadline: float, data: bytes = b"") -> tuple[dict[str, Any], bytes]:
        unsent = memoryview(data)
        length: int | None = None
        self._buffer.clear()
        while length is None or len(self._buffer) < length:
            if self._closed:
                self._crashed()
            unsent = self._turn(deadline, unsent)
            length = frame_length(self._buffer) if self._buffer else None
        if len(self._buffer) > length:
            raise WireError("there are bytes after the reply")
        header, payload = parse_frame(bytes(self._buffer))
        if header.get("nonce") != nonce or type(header.get("kind")) is not str:
            raise WireError("the reply is stale or forged")
        return header, payload

    def _turn(self, deadline: float, unsent: memoryview) -> memoryview:
        """Wait for whatever comes next, a twentieth of a second at most; write what the channel takes."""
        now = time.monotonic()
        if now >= deadline:
            self._too_late()
        if now >= self._next_watch:
            self._next_watch = now + WATCH_SECONDS
            if limits.resident_bytes(self.pid) > self.memory_cap:
                self._end("memory", f"your code used more than {MEMORY_BUDGET >> 20} MiB of memory")
        self._selector.modify(self._channel, selectors.EVENT_READ | (selectors.EVENT_WRITE if unsent else 0))
        for key, ready in self._selector.select(min(deadline - now, WATCH_SECONDS)):
            if key.fileobj is self._channel:
                if ready & selectors.EVENT_WRITE:
                    try:
                        unsent = unsent[self._channel.send(unsent) :]
                    except (BrokenPipeError, ConnectionResetError):
                        unsent, self._closed = memoryview(b""), True
                if ready & selectors.EVENT_READ:
                    self._read_channel()
            else:
                self._read_stream(key.fd)
        if self._output_total > OUTPUT_CAP:
            self._end("output", f"your code printed more than {OUTPUT_CAP >> 20} MiB")
        return unsent

    def _read_channel(self) -> None:
        try:
            data = self._channel.recv(1 << 18)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self._closed = True
        self._buffer += data

    def _read_stream(self, fd: int) -> None:
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(fd)
        elif fd == self._fds[0]:
            self._diagnostics.add(data)
        else:
            self._output_total += len(data)
            self._printed.add(data)

    def _drain(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Read what is there on output and diagnostics; never waits for their ends, which a stray process may hold."""
        deadline = time.monotonic() + seconds
        while not until():
            ready = [k.fd for k, _ in self._selector.select(max(0.0, deadline - time.monotonic())) if k.fd in self._fds]
            for fd in ready:
                self._read_stream(fd)
            if not ready and time.monotonic() >= deadline:
                return
            if self._output_total > OUTPUT_CAP:
                return

    # --- endings -------------------------------------------------------------------------------------------------------

    def _end(self, ending: Ending, sentence: str, line: int = 0) -> None:
        self.retire()
        raise SandboxEnded(ending, sentence, line)

    def _too_late(self) -> None:
        self._drain(0.0)
        line = self._learner_line()
        self._end("timeout", "your code gave no answer in time", line)

    def _crashed(self) -> None:
        with suppress(ValueError, OSError):
            self._selector.unregister(self._channel)
        self._drain(DRAIN_SECONDS, until=lambda: bool(self._learner_line()))
        line = self._learner_line()
        status = self.retire()
        raise SandboxEnded("crashed", _how_it_ended(status), line)

    def _learner_line(self) -> int:
        """The innermost line of the learner's file in what faulthandler wrote."""
        match = re.search(rf'File "{re.escape(self.filename)}", line (\d+)', self._diagnostics.text())
        return int(match[1]) if match else 0


def _how_it_ended(status: int | None) -> str:
    if status is None:
        return "the process of your code closed its line to the grader"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:  # ours: the process was alive when the line broke
            return "the process of your code closed its line to the grader"
        if number == signal.SIGXCPU:
            return "your code used up its processor time"
        return f"the process of your code was ended by {signal.Signals(number).name}"
    return f"your code ended its process with exit status {os.WEXITSTATUS(status)} instead of returning"
