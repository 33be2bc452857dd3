"""The clean server: has imported torch and pytest, and nothing of ``solutions/`` nor of a learner.

It runs no tensor operation, ever: threads that torch makes would be missing in what is forked from it. A client asks
for a grading by sending one end of a socket; the server forks a keeper that takes it from there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import time
from typing import Any, Final

from grader.sandbox import limits
from grader.server import launch, lines

FAREWELL_SECONDS: Final = 5.0


def preload() -> None:
    """Import once what every judge and sandbox needs."""
    import pytest_timeout  # noqa: F401, PLC0415
    import safetensors.torch  # noqa: F401, PLC0415
    import torch  # noqa: F401, PLC0415

    import grader.judge.main  # noqa: PLC0415
    import grader.probes.preload  # noqa: PLC0415
    import grader.sandbox.guest  # noqa: F401, PLC0415

    gc.freeze()


def main(settings: dict[str, Any], fds: launch.Fds) -> None:
    """Serve until the door is closed. ``settings``: model, tmp, read, layers, environment."""
    limits.forbid_reading_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # importing torch makes a million objects and no garbage; sandboxes switch it on again
    door = socket.socket(fileno=fds["door"])
    if settings["model"] == "fork":
        preload()
    model: launch.Model = settings["model"] if launch.trusted_model() == "fork" else "fresh"
    settings = settings | {"model": model}
    keepers: set[int] = set()
    while True:
        try:
            _, received = lines.receive(door)
        except (EOFError, OSError):
            break
        environment = launch.bare_environment(settings["tmp"])
        keepers.add(launch.start(model, "keeper", settings, {"client": received[0]}, environment))
        for fd in received:
            os.close(fd)
        keepers -= _reap(keepers)
    deadline = time.monotonic() + FAREWELL_SECONDS
    while keepers and time.monotonic() < deadline:
        keepers -= _reap(keepers)
        time.sleep(0.002)
    os._exit(0)  # taking torch down in good order takes a tenth of a second, and there is nothing to save


def _reap(keepers: set[int]) -> set[int]:
    gone = set()
    for pid in keepers:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                gone.add(pid)
    return gone
