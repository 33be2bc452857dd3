"""Resource limits and process attributes of the sandbox, through ``resource`` and ``prctl``."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Final

LINUX: Final = sys.platform.startswith("linux")
MACHINE: Final = platform.machine()
WHERE_ARE_YOU: Final = signal.SIGUSR1
"""A sandbox answers it by writing where it is, whatever it is doing: for the line of an endless loop."""

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3: Final = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(number: int, *arguments: object) -> int:
    """Call the kernel; raises OSError with its errno."""
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, value: int) -> None:
    ulong = ctypes.c_ulong
    if _libc.prctl(ctypes.c_int(option), ulong(value), ulong(0), ulong(0), ulong(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"prctl({option}): {os.strerror(code)}")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that started it ends."""
    if LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def forbid_reading_memory() -> None:
    """Refuse other processes of the same user the memory of this one (``/proc/PID/mem``, ptrace)."""
    if LINUX:
        _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended, so that they can be found and killed."""
    if LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def no_new_privileges() -> None:
    """Give up gaining privileges through exec: what Landlock and seccomp ask for."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Take root's powers from a root process; it could raise its limits again otherwise."""
    if os.geteuid() != 0 or MACHINE not in _CAPSET:
        return
    for capability in range(64):
        try:
            ulong = ctypes.c_ulong
            if _libc.prctl(ctypes.c_int(_PR_CAPBSET_DROP), ulong(capability), ulong(0), ulong(0), ulong(0)) != 0:
                break
        except OSError:  # pragma: no cover - the last capability differs between kernels
            break
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    syscall(_CAPSET[MACHINE], header, bytes(24))


def threads() -> int:
    """How many threads this process has; 1 where that cannot be told."""
    return len(os.listdir("/proc/self/task")) if LINUX else 1


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it is gone or cannot be asked."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):  # the self-test tells what holds; macOS refuses some
        resource.setrlimit(which, (value, value))


def limit_resources(memory: int, cpu_seconds: float) -> None:
    """Bound files, processor time and memory. Call it after ``import torch``: limits are relative to what is mapped.

    ``RLIMIT_FSIZE`` of 0 stops every regular file (memfd and shared memory too) from growing and leaves pipes alone.
    """
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, 256)
    _limit(resource.RLIMIT_CPU, int(cpu_seconds) + 2)
    if not LINUX:
        return
    sizes = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines() if ":" in line
    )
    mapped, data = (int(sizes[key].split()[0]) << 10 for key in ("VmSize", "VmData"))
    _limit(resource.RLIMIT_AS, mapped + memory)
    _limit(resource.RLIMIT_DATA, data + memory)
