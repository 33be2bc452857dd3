"""The keeper of one grading: starts the judge and, when the judge asks, sandboxes; ends and sweeps them all.

It runs nothing but this loop, so it always answers. It is the parent of everything that belongs to the grading:
orphans come to it, and when the client goes away or the judge ends, whatever is left is killed and every scratch
folder is removed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import shutil
import signal
import socket
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from grader.sandbox import limits
from grader.server import launch
from grader.transport import jsonlines
from grader.transport.request import is_real

SCRATCH_PREFIX: Final = "kata-sandbox-"
SWEEP_SECONDS: Final = 3.0


class Keeper:
    """Parent of a judge and its sandboxes."""

    def __init__(
        self, settings: dict[str, Any], client: socket.socket, lifeline: socket.socket, request: dict[str, Any]
    ) -> None:
        self._settings = settings
        self._lifeline = lifeline
        self._request = request
        self._scratch: dict[int, Path] = {}
        self._control, other = socket.socketpair()
        fds = {"control": other.fileno(), "client": client.fileno()}
        self._judge = launch.start(
            settings["model"], "judge", self._judge_settings(), fds, launch.bare_environment(settings["tmp"])
        )
        other.close()

    def _judge_settings(self) -> dict[str, Any]:
        return {
            "parent": os.getpid(),
            "request": self._request,
            "call_seconds": self._settings["call_seconds"],
            "model": self._settings["model"],
        }

    def _layers(self) -> list[str]:
        """A real accelerator opens devices, maps memory and starts threads as it likes.

        A process of its own must do there.
        """
        return [] if self._has_real_device else self._settings["layers"]

    @property
    def _has_real_device(self) -> bool:
        return is_real(self._request.get("device", ""))

    def run(self) -> None:
        """Serve the judge until it ends or the client goes away; then leave nothing behind."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._lifeline, selectors.EVENT_READ)
            try:
                while self._serve({key.fileobj for key, _ in selector.select()}):
                    pass
            finally:
                self._end()

    def _serve(self, ready: set[Any]) -> bool:
        if self._lifeline in ready:  # nothing is ever said on it: the client hung up
            return False
        try:
            message, _ = jsonlines.receive(self._control)
        except (EOFError, OSError):
            return False
        if message["op"] == "spawn":
            self._spawn(message)
        elif message["op"] == "preload":
            self._preload([jsonlines.exactly(self._control, size) for size in message["sizes"]])
        elif message["op"] == "retire":
            jsonlines.send(self._control, {"status": self._retire(message["pid"])})
        else:
            self._retire(message["pid"])
        return True

    def _preload(self, frames: list[bytes]) -> None:
        """Unpack operations once for all sandboxes that are forked from now on."""
        if not self._forks:
            return
        from grader.sandbox import preloaded  # noqa: PLC0415 - torch

        preloaded.INHERITED.clear()
        for frame in frames:
            preloaded.take_in(frame)
        gc.freeze()

    @property
    def _forks(self) -> bool:
        return bool(self._settings["model"] == "fork")

    def _spawn(self, message: dict[str, Any]) -> None:
        scratch = Path(tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{os.getpid()}-", dir=self._settings["tmp"]))
        ours, theirs = socket.socketpair()
        reads, writes = zip(*(os.pipe() for _ in range(2)), strict=True)
        settings = {
            "parent": os.getpid(),
            "scratch": str(scratch),
            "read": self._settings["read"],
            "memory": message["memory"],
            "cpu_seconds": message["cpu_seconds"],
            "layers": self._layers(),
            "device": message["device"],
        }
        fds = {"channel": theirs.fileno(), "diagnostics": writes[0], "stdout": writes[1], "stderr": writes[1]}
        pid = launch.start(self._settings["model"], "guest", settings, fds, launch.bare_environment(str(scratch)))
        self._scratch[pid] = scratch
        jsonlines.send(self._control, {"pid": pid, "inherits": self._forks}, (ours.fileno(), *reads))
        ours.close()
        theirs.close()
        for fd in (*reads, *writes):
            os.close(fd)

    def _retire(self, pid: int) -> int | None:
        """Kill a sandbox with all that it started. Returns its wait status, None if it cannot be reaped."""
        status = self._sweep({pid} if pid in self._scratch else set())
        shutil.rmtree(self._scratch.pop(pid, ""), ignore_errors=True)
        return status

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._judge, signal.SIGKILL)
        self._sweep({self._judge, *self._scratch})
        for scratch in self._scratch.values():
            shutil.rmtree(scratch, ignore_errors=True)

    def _sweep(self, ending: set[int]) -> int | None:
        """Kill and reap ``ending``, their groups, their descendants and every orphan that came to us."""
        keep = {self._judge, *self._scratch} - ending
        status: int | None = None
        for pid in ending:
            for one in (pid, *descendants(pid)):
                _kill(one)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        deadline = time.monotonic() + SWEEP_SECONDS
        while time.monotonic() < deadline:
            left = [child for child in children(os.getpid(), ending) if child not in keep]
            for child in left:
                for one in (child, *descendants(child)):
                    _kill(one)
                with contextlib.suppress(ChildProcessError):
                    done, code = os.waitpid(child, os.WNOHANG)
                    if done in ending and done != self._judge:
                        status = code
            if not left:
                break
            time.sleep(0.001)
        return status


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def children(pid: int, known: set[int] = frozenset()) -> list[int]:  # type: ignore[assignment]
    """Child processes, dead ones that wait to be reaped included.

    Where the system cannot tell: the known ones still there.
    """
    if not limits.LINUX:
        return [child for child in known if _exists(child)]
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split())
    except FileNotFoundError:
        return _children_by_scan(pid) if os.path.exists(f"/proc/{pid}") else []
    except OSError:
        return []
    return found


def _children_by_scan(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                fields = (
                    Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                )
                if int(fields[1]) == pid:
                    found.append(int(entry))
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    todo = [pid]
    while todo:
        below = children(todo.pop())
        found += below
        todo += below
    return found


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def remove_stale_scratch(tmp: str) -> None:
    """Remove scratch folders whose keeper was killed before it could."""
    for folder in Path(tmp).glob(f"{SCRATCH_PREFIX}*"):
        owner = folder.name.removeprefix(SCRATCH_PREFIX).partition("-")[0]
        if owner.isdigit() and not _exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def main(settings: dict[str, Any], fds: launch.Fds) -> None:
    """Become the keeper of the grading that the client on ``fds["client"]`` asks for."""
    limits.forbid_reading_memory()
    limits.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    client, lifeline = socket.socket(fileno=fds["client"]), socket.socket(fileno=fds["lifeline"])
    try:
        request, _ = jsonlines.receive(client)
    except (EOFError, OSError):
        return
    remove_stale_scratch(settings["tmp"])
    Keeper(settings, client, lifeline, request).run()
