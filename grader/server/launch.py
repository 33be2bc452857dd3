"""Starting a process in a role: forked from this one where that is safe, a fresh interpreter elsewhere.

Both ways lead to the same function with the same arguments, so that nothing else needs to know which one it was.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, Final, Literal

from grader.sandbox import limits

Model = Literal["fork", "fresh"]

ROLES: Final = {
    "server": "grader.server.server",
    "keeper": "grader.server.keeper",
    "judge": "grader.judge.service",
    "guest": "grader.sandbox.guest",
}
PACKAGE_ROOT: Final = str(Path(__file__).resolve().parent.parent.parent)
_BOOTSTRAP: Final = (
    "import sys, json; role, handed, root = sys.argv[1:]; sys.path.insert(0, root); "
    "from grader.server.launch import enter; enter(role, int(handed))"
)

PIPE_BYTES: Final = 16 << 10
"""So much a pipe holds on every system before somebody reads."""

Fds = dict[str, int]
"""Names and descriptors that the new process gets; ``stdout`` and ``stderr`` become 1 and 2."""


def trusted_model() -> Model:
    """Fork only where it is known to work: on Linux, from a process with a single thread."""
    return "fork" if limits.LINUX and limits.threads() == 1 else "fresh"


def bare_environment(home: str) -> dict[str, str]:
    """Build an environment from nothing: the user's tokens stay out; one thread each, so that Landlock can bind it."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": home,
        "TMPDIR": home,
        "TORCHINDUCTOR_CACHE_DIR": home,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }


def start(model: Model, role: str, settings: dict[str, Any], fds: Fds, environment: dict[str, str]) -> int:
    """Start a process in a session of its own and return its id; it runs ``main(settings, fds)`` of the role."""
    return (_fork if model == "fork" else _spawn)(role, settings, fds, environment)


def _spawn(role: str, settings: dict[str, Any], fds: Fds, environment: dict[str, str]) -> int:
    passed = {name: fd for name, fd in fds.items() if name not in ("stdout", "stderr")}
    debug = {"KATA_DEBUG": "1"} if os.environ.get("KATA_DEBUG") else {}
    process = spawn(
        role,
        {"settings": settings, "fds": passed},
        stdin=subprocess.DEVNULL,
        stdout=fds.get("stdout", subprocess.DEVNULL),
        stderr=fds.get("stderr", None if debug else subprocess.DEVNULL),
        env=environment | debug,
    )
    process.returncode = 0  # reaped by its keeper through os.waitpid, never by Popen
    return process.pid


def spawn(role: str, document: dict[str, Any], **more: Any) -> subprocess.Popen[bytes]:
    """Start a role in a fresh interpreter and a session of its own.

    The document does not travel in the arguments: these have a limit, and everybody can read them.
    """
    with _readable(json.dumps(document).encode()) as handed:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOTSTRAP, role, str(handed.fileno()), PACKAGE_ROOT],
            pass_fds=(handed.fileno(), *document["fds"].values()),
            start_new_session=True,
            **more,
        )


def _readable(data: bytes) -> IO[bytes]:
    """Return something to read these bytes from: a pipe that holds them all, else a file without a name."""
    if len(data) <= PIPE_BYTES:
        reads, writes = os.pipe()
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(data)
        return os.fdopen(reads, "rb")
    file: IO[bytes] = os.fdopen(os.memfd_create("kata"), "w+b") if limits.LINUX else tempfile.TemporaryFile()
    file.write(data)
    file.seek(0)
    return file


def _fork(role: str, settings: dict[str, Any], fds: Fds, environment: dict[str, str]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        kept = _only(fds)
        os.environ.clear()
        os.environ.update(environment)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        importlib.import_module(ROLES[role]).main(settings, kept)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a forked process must never return into its parent's stack
        if os.environ.get("KATA_DEBUG"):
            sys.excepthook(*sys.exc_info())
        os._exit(70)


def _only(fds: Fds) -> Fds:
    """Close every descriptor but the given ones; standard input is empty, output goes where ``fds`` says or nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if not (name == "stderr" and name not in fds and os.environ.get("KATA_DEBUG")):
            os.dup2(fds.get(name, null), number)
    kept = {name: fd for name, fd in fds.items() if name not in ("stdout", "stderr")}
    last = 2
    for number in (*sorted(kept.values()), os.sysconf("SC_OPEN_MAX")):
        os.closerange(last + 1, number)
        last = number
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    return kept


def enter(role: str, handed: int) -> None:
    """Run a role in a fresh interpreter; its document is in the file with this descriptor."""
    with open(handed, "rb") as file:
        document = json.load(file)
    importlib.import_module(ROLES[role]).main(document["settings"], document["fds"])
