"""The server that stays: where it listens, and how a command finds or starts it. Imports nothing of torch.

It listens at a socket in a folder that only its user may enter. The name of the socket stands for everything that a
server has in memory: another version of the grader, of torch or of Python is another server.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from grader import __version__
from grader.server import launch
from grader.transport import jsonlines

IDLE_SECONDS: Final = 15 * 60.0
LONGEST_PATH: Final = 100
ANSWER_SECONDS: Final = 5.0
START_SECONDS: Final = 10.0
"""How long a server may take to give out a line, which it can do once it has imported torch."""
_OFF: Final = frozenset(("off", "0", "no", "false"))


def is_wanted() -> bool:
    """Whether a server may stay; ``KATA_SERVER=off`` says no, and who looks for a fault wants its traces."""
    return os.environ.get("KATA_SERVER", "").strip().lower() not in _OFF and not os.environ.get("KATA_DEBUG")


def folder() -> Path:
    """Return the folder of the sockets, which nobody else may enter. Raises OSError where there can be none."""
    path = Path(tempfile.gettempdir()) / f"kata-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{path} is not a folder of this user alone")
    return path


def address(settings: dict[str, Any]) -> Path:
    """Return where the server for these settings listens. Raises OSError."""
    path = folder() / f"{_fingerprint(settings)}.socket"
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise OSError(f"{path} is too long for a socket")
    return path


def door(settings: dict[str, Any], spawn: Callable[[dict[str, Any], dict[str, int]], None]) -> socket.socket | None:
    """Return a connection to the server, which is started where there is none; None where that cannot be done.

    ``spawn`` starts a server with given settings and descriptors.
    """
    try:
        path = address(settings)
        with _alone(path.parent):
            found = _connected(path)
            if found is not None:
                return found
            path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
                listener.listen(16)
                spawn(settings | {"idle_seconds": IDLE_SECONDS}, {"listener": listener.fileno()})
            return _connected(path)
    except OSError:
        return None


def servers() -> Iterator[tuple[Path, socket.socket]]:
    """Yield a connection to each server that listens, of whatever version."""
    try:
        paths = sorted(folder().glob("*.socket"))
    except OSError:
        return
    for path in paths:
        found = _connected(path)
        if found is not None:
            with found:
                yield path, found


def ask(server: socket.socket, operation: str) -> dict[str, Any] | None:
    """Ask a server for its status or to stop; None where it does not answer."""
    server.settimeout(ANSWER_SECONDS)
    try:
        jsonlines.send(server, {"op": operation})
        return jsonlines.receive(server)[0]
    except (EOFError, OSError):
        return None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep two commands from starting a server each."""
    lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _connected(path: Path) -> socket.socket | None:
    channel = socket.socket(socket.AF_UNIX)
    channel.settimeout(START_SECONDS)
    try:
        channel.connect(str(path))
    except OSError:
        channel.close()
        return None
    return channel


def _fingerprint(settings: dict[str, Any]) -> str:
    package = Path(launch.PACKAGE_ROOT) / "grader"
    newest = max((file.stat().st_mtime_ns for file in package.rglob("*.py")), default=0)
    torch = importlib.util.find_spec("torch")
    origin = Path(torch.origin) if torch is not None and torch.origin else None
    known = [__version__, sys.executable, sys.version, str(package), newest]
    known += [str(origin), origin.stat().st_mtime_ns if origin else 0]
    return hashlib.sha256(json.dumps([known, settings], sort_keys=True).encode()).hexdigest()[:16]
