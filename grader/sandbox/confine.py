"""Confinement of the sandbox: every layer this system has, in the order that works, and a test of what really holds."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from grader.sandbox import landlock, limits, seccomp

ALL_LAYERS: Final = ("rlimits", "landlock", "seccomp")


def confine(scratch: Path, read: Iterable[Path], memory: int, cpu_seconds: float, layers: Iterable[str]) -> list[str]:
    """Confine this process. Call it with one thread, after ``import torch``, before any code of the learner's.

    ``read`` are the files and folders that stay readable, ``memory`` is the budget in bytes beyond what is mapped now.
    Returns the layers that were switched on; :func:`gaps` tells what they are worth.
    """
    wanted = set(layers)
    active = ["process"]
    os.chdir(scratch)
    tempfile.tempdir = str(scratch)  # gettempdir() probes by writing a file, which is refused from here on
    if "rlimits" in wanted:
        limits.limit_resources(memory, cpu_seconds)
        active.append("rlimits")
    if limits.LINUX and wanted & {"landlock", "seccomp"}:
        limits.no_new_privileges()
    if "landlock" in wanted and limits.threads() == 1 and landlock.restrict((*read, scratch)):
        active.append("landlock")
    if limits.LINUX and wanted & {"landlock", "seccomp"}:
        limits.drop_capabilities()
    if "seccomp" in wanted and seccomp.restrict(no_write="landlock" not in active):
        active.append("seccomp")
    return active


def gaps(scratch: Path, parent: int) -> list[str]:
    """Try what must not work and return, in plain words, what worked all the same.

    Asks the kernel, not return codes.
    """
    attempts: dict[str, Callable[[], None]] = {
        "can read files outside the allow-list": _read_foreign_file,
        "can create files": lambda: _create_file(scratch),
        "can open network sockets": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "can send to sockets outside": _pair_of_sockets,
        "can signal the grader": lambda: os.kill(parent, 0),
        "can start processes": _start_process,
    }
    found = []
    for sentence, attempt in attempts.items():
        try:
            attempt()
        except OSError:
            continue
        found.append(sentence)
    return found


def _read_foreign_file() -> None:
    path = "/etc/hostname" if os.path.exists("/etc/hostname") else "/etc/passwd"
    with open(path, "rb") as stream:
        stream.read(1)


def _create_file(scratch: Path) -> None:
    path = scratch / "canary"
    path.touch(exist_ok=False)
    path.unlink()


def _pair_of_sockets() -> None:
    """Make what can send datagrams to any unix socket that there is, as to the system's log."""
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        end.close()


def _start_process() -> None:
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
