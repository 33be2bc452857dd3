"""The clean server: has imported torch and pytest, and nothing of ``solutions/`` nor of a learner.

It runs no tensor operation, ever: threads that torch makes would be missing in what is forked from it. A client asks
for a line to a judge; the server forks a keeper that takes it from there. A server with one door ends when it is
closed; one that listens at an address serves whoever of the same user comes, and ends when nobody has come for long.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.sandbox import limits
from grader.server import launch
from grader.transport import jsonlines

FAREWELL_SECONDS: Final = 5.0
STANDBY_SECONDS: Final = 0.3
"""So long after a client has gone, a judge begins to prepare for the next answer to the same kata."""


def preload() -> None:
    """Import once what every judge and sandbox needs."""
    import safetensors.torch  # noqa: F401, PLC0415
    import torch  # noqa: F401, PLC0415

    import grader.judge.service  # noqa: PLC0415
    import grader.sandbox.guest  # noqa: F401, PLC0415
    from grader.probes import preload as probes  # noqa: PLC0415

    probes.install()
    gc.freeze()


@dataclass
class _Ends:
    """The client's ends of a line to a judge: what is said, and what tells that somebody is there."""

    channel: socket.socket
    lifeline: socket.socket

    def close(self) -> None:
        """Hang up."""
        self.channel.close()
        self.lifeline.close()


class Server:
    """Gives out lines to judges."""

    def __init__(self, settings: dict[str, Any], doors: list[socket.socket], listener: socket.socket | None) -> None:
        self._settings, self._doors, self._listener = settings, doors, listener
        self._keepers: set[int] = set()
        self._grading: set[socket.socket] = set()
        self._last: tuple[str, str] | None = None
        self._standby: tuple[tuple[str, str], _Ends] | None = None
        self._since = self._quiet_since = self._idle_since = time.monotonic()
        self._given = 0
        self._stopped = False

    def run(self) -> None:
        """Serve until there is nobody left to serve."""
        while not self._stopped and (self._doors or self._is_awaited()):
            watched = [*self._doors, *([self._listener] if self._listener else [])]
            for ready in select.select(watched, [], [], self._patience())[0]:
                if ready is self._listener:
                    self._accept()
                else:
                    self._serve(ready)
            self._keepers -= _reap(self._keepers)
            self._stand_by()
        self._end()

    def _is_awaited(self) -> bool:
        idle: float = self._settings.get("idle_seconds", 0.0)
        return self._listener is not None and time.monotonic() < self._quiet_since + idle

    def _patience(self) -> float | None:
        if self._listener is None:
            return None
        return STANDBY_SECONDS if self._keepers or self._last else 30.0

    def _accept(self) -> None:
        assert self._listener is not None
        with contextlib.suppress(OSError):
            door, _address = self._listener.accept()
            if is_the_same_user(door):
                self._doors.append(door)
            else:
                door.close()

    def _serve(self, door: socket.socket) -> None:
        try:
            request, _fds = jsonlines.receive(door)
            if request["op"] == "line":
                self._quiet_since = time.monotonic()
                wanted = (request["kata"], request["lang"])
                ends = self._line(wanted)
                jsonlines.send(door, {}, (ends.channel.fileno(), ends.lifeline.fileno()))
                ends.close()
                self._given, self._last = self._given + 1, wanted if wanted[0] else self._last
                self._grading.add(door)
            elif request["op"] == "stop":
                self._stopped = True
                jsonlines.send(door, {})
            else:
                jsonlines.send(door, self._status())
        except (EOFError, OSError):
            self._doors.remove(door)
            if door in self._grading:
                self._grading.remove(door)
                self._idle_since = time.monotonic()
            door.close()

    def _line(self, wanted: tuple[str, str]) -> _Ends:
        if self._standby is not None and self._standby[0] == wanted:
            ends, self._standby = self._standby[1], None
            return ends
        return self._new_line()

    def _new_line(self) -> _Ends:
        channel, judge = socket.socketpair()
        lifeline, keeper = socket.socketpair()
        fds = {"client": judge.fileno(), "lifeline": keeper.fileno()}
        environment = launch.bare_environment(self._settings["tmp"])
        self._keepers.add(launch.start(self._settings["model"], "keeper", self._settings, fds, environment))
        judge.close()
        keeper.close()
        return _Ends(channel, lifeline)

    def _stand_by(self) -> None:
        """When the last client has gone, have a judge prepare for what it may want next."""
        if self._listener is None or self._grading or time.monotonic() < self._idle_since + STANDBY_SECONDS:
            return
        wanted, self._last = self._last, None
        if wanted is None or (self._standby is not None and self._standby[0] == wanted):
            return
        if self._standby is not None:
            self._standby[1].close()
        ends = self._new_line()
        jsonlines.send(ends.channel, {"op": "prepare", "kata": wanted[0], "lang": wanted[1], "keep": True})
        self._standby = (wanted, ends)

    def _status(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "seconds": time.monotonic() - self._since,
            "gradings": self._given,
            "waiting_for": self._standby[0][0] if self._standby else "",
        }

    def _end(self) -> None:
        if self._standby is not None:
            self._standby[1].close()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                Path(self._listener.getsockname()).unlink()
            self._listener.close()
        deadline = time.monotonic() + FAREWELL_SECONDS
        while self._keepers and time.monotonic() < deadline:
            self._keepers -= _reap(self._keepers)
            time.sleep(0.002)


def is_the_same_user(client: socket.socket) -> bool:
    """Whether the process at the other end belongs to us; where the system cannot tell, the folder's mode has to do."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _pid, uid, _gid = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(uid == os.getuid())


def main(settings: dict[str, Any], fds: launch.Fds) -> None:
    """Serve. ``settings``: model, tmp, read, layers, call_seconds and, for one that listens, idle_seconds."""
    limits.forbid_reading_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # importing torch makes a million objects and no garbage; sandboxes switch it on again
    doors = [socket.socket(fileno=fds["door"])] if "door" in fds else []
    listener = socket.socket(fileno=fds["listener"]) if "listener" in fds else None
    if settings["model"] == "fork":
        preload()
    model: launch.Model = settings["model"] if launch.trusted_model() == "fork" else "fresh"
    Server(settings | {"model": model}, doors, listener).run()
    os._exit(0)  # taking torch down in good order takes a tenth of a second, and there is nothing to save


def _reap(keepers: set[int]) -> set[int]:
    gone = set()
    for pid in keepers:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                gone.add(pid)
    return gone
