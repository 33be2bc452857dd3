"""Landlock: which files the sandbox may open, in a page of ctypes.

Landlock binds the calling thread and what it starts later, so the process must have one thread when :func:`restrict`
is called, and ``import torch`` must be over (the CUDA build starts helpers while it is imported). It is an allow-list
without subtraction: :func:`around` grants a tree entry by entry where something inside it must stay hidden.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from grader.sandbox.limits import LINUX, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_KNOWN_BITS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
_ALL_BITS: Final = 16
_TCP, _SCOPES = 3, 3  # bind and connect · abstract unix sockets and signals

DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
SYSTEM_FOLDERS: Final = (
    *("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node"),
)
OWN_PROCESS: Final = "/proc/self"  # resolved where the rule is made: in the sandbox
SYSTEM_FILES: Final = ("/etc/ld.so.cache", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/etc/localtime")


def abi() -> int:
    """Which version of Landlock the kernel has; 0 for none (too old, not enabled, or hidden by a container)."""
    if not LINUX:
        return 0
    try:
        return syscall(_CREATE_RULESET, ctypes.c_void_p(None), ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def around(root: Path, hidden: Iterable[Path]) -> Iterator[Path]:
    """Yield paths that together grant ``root`` without the hidden paths in it."""
    root = root.resolve()
    inside = [path for path in hidden if path == root or root in path.parents]
    if not inside:
        yield root
    elif root not in inside and root.is_dir():
        for entry in root.iterdir():
            if entry.resolve() == entry:  # a link may lead back in: what it points to has a grant of its own, or none
                yield from around(entry, inside)


def readable(hidden: Iterable[Path]) -> Iterator[Path]:
    """Yield what Python and torch read: the standard library, installed packages, system libraries; nothing of ours."""
    hidden = [path.resolve() for path in hidden]
    standard = [sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib")] + [f"{sys.base_prefix}/lib"]
    packages = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    for folder in dict.fromkeys((*standard, *packages, *SYSTEM_FOLDERS)):
        if os.path.exists(folder):
            yield from around(Path(folder), hidden)


def restrict(read: Iterable[Path]) -> int:
    """Confine this process to reading ``read``: no writing, no TCP, no signals to others.

    Returns the version of Landlock that was used, 0 for none.
    """
    version = abi()
    if version <= 0:
        return 0
    handled = (1 << _KNOWN_BITS.get(version, _ALL_BITS)) - 1
    attributes = struct.pack("<QQQ", handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = syscall(_CREATE_RULESET, attributes[:size], ctypes.c_size_t(size), ctypes.c_uint32(0))

    def allow(path: str | Path, access: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # not on this system: nothing to allow
            return
        try:
            access &= handled if os.path.isdir(path) else handled & _ON_FILES
            rule = struct.pack("<Qi", access, descriptor) + bytes(4)
            syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
        finally:
            os.close(descriptor)

    try:
        paths: tuple[str | Path, ...] = (*read, *SYSTEM_FILES, OWN_PROCESS)
        for path in paths:
            allow(path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in DEVICES:
            allow(path, _READ_FILE | _WRITE_FILE)
        syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return version
