"""seccomp: what Landlock leaves open, refused by system call number.

A classic BPF program, assembled by hand: new processes, sockets of every kind and pairs of them, messages to an
address, signals to others, chmod and its kin, ptrace, io_uring, namespaces. Threads, signals to the process itself
(``abort``), and ``send`` and ``recv`` on the line to the judge keep working. Where Landlock is missing the filter also
refuses every write by path. Loading it takes 0.4 ms; it covers all threads.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Callable
from typing import Final

from grader.sandbox.limits import LINUX, MACHINE, syscall
from grader.sandbox.syscalls import AUDIT_ARCH, NUMBERS

_LOAD, _EQUAL, _BITS, _GREATER_EQUAL, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_ARCHITECTURE, _NUMBER, _ARGUMENTS = 4, 0, 16  # offsets in struct seccomp_data
_X32_BIT: Final = 0x40000000
_CLONE_THREAD: Final = 0x10000
_SET_MODE_FILTER, _FLAG_TSYNC = 1, 1
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_PRCTL_REFUSED: Final = (1, 4, 36, 0x59616D61)  # PDEATHSIG, DUMPABLE, CHILD_SUBREAPER, PTRACER
_OWNERS_OF_SIGNALS: Final = (8, 10, 15)  # fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX
_SETS_AN_OWNER: Final = (0x8901, 0x8902)  # ioctl: FIOSETOWN, SIOCSPGRP
_OPEN_TO_WRITE: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_TO_SELF_ONLY: Final = ("kill", "tgkill", "rt_tgsigqueueinfo", "rt_sigqueueinfo")
_OWN_PROCESS: Final = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
_WRITES: Final = (
    *("creat", "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir"),
    *("link", "linkat", "symlink", "symlinkat", "mknod", "mknodat"),
)
_OPENS: Final = {"open": 1, "openat": 2}  # which argument holds the flags
_EXAMINED: Final = frozenset(
    (*_TO_SELF_ONLY, *_OWN_PROCESS, *_WRITES, *_OPENS, "openat2", "clone", "clone3", "prctl", "ioctl")
) | {"sendto", "fcntl"}


class _Program:
    """Instructions of a filter; :meth:`when` skips a body unless the system call has that number."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.code: list[bytes] = []
        self._numbers = numbers

    def add(self, code: int, jump_true: int, jump_false: int, value: int) -> None:
        self.code.append(struct.pack("<HBBI", code, jump_true, jump_false, value & 0xFFFFFFFF))

    def refuse(self, number: int = errno.EPERM) -> None:
        self.add(_RETURN, 0, 0, _ERRNO | number)

    def allow(self) -> None:
        self.add(_RETURN, 0, 0, _ALLOW)

    def load_argument(self, index: int) -> None:
        self.add(_LOAD, 0, 0, _ARGUMENTS + 8 * index)  # the low half, on little endian

    def when(self, name: str, body: Callable[[], None]) -> None:
        """``body`` must end in a return on every path: it may overwrite the loaded number."""
        if name not in self._numbers:
            return
        at = len(self.code)
        self.add(_EQUAL, 0, 0, 0)
        body()
        self.code[at] = struct.pack("<HBBI", _EQUAL, 0, len(self.code) - at - 1, self._numbers[name])

    def allow_if_equal(self, argument: int, value: int) -> None:
        self.load_argument(argument)
        self.add(_EQUAL, 0, 1, value)
        self.allow()
        self.refuse()

    def refuse_if_equal(self, argument: int, values: tuple[int, ...]) -> None:
        self.load_argument(argument)
        for value in values:
            self.add(_EQUAL, 0, 1, value)
            self.refuse()
        self.allow()

    def allow_if_null(self, argument: int) -> None:
        """Look at both halves of a pointer."""
        self.load_argument(argument)
        self.add(_EQUAL, 0, 3, 0)
        self.add(_LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4)
        self.add(_EQUAL, 0, 1, 0)
        self.allow()
        self.refuse()

    def allow_if_bits(self, argument: int, bits: int) -> None:
        self.load_argument(argument)
        self.add(_BITS, 0, 1, bits)
        self.allow()
        self.refuse()

    def refuse_if_bits(self, argument: int, bits: int) -> None:
        self.load_argument(argument)
        self.add(_BITS, 0, 1, bits)
        self.refuse(errno.EROFS)
        self.allow()


def _assemble(*, no_write: bool) -> bytes:
    numbers = NUMBERS[MACHINE]
    program = _Program(numbers)
    program.add(_LOAD, 0, 0, _ARCHITECTURE)
    program.add(_EQUAL, 1, 0, AUDIT_ARCH[MACHINE])
    program.add(_RETURN, 0, 0, _KILL)
    program.add(_LOAD, 0, 0, _NUMBER)
    if MACHINE == "x86_64":  # the x32 ABI would number the calls anew
        program.add(_GREATER_EQUAL, 0, 1, _X32_BIT)
        program.refuse(errno.ENOSYS)
    own = os.getpid()
    for name in _TO_SELF_ONLY:
        program.when(name, lambda: program.allow_if_equal(0, own))
    for name in _OWN_PROCESS:
        program.when(name, lambda: program.allow_if_equal(0, 0))
    program.when("clone", lambda: program.allow_if_bits(0, _CLONE_THREAD))
    program.when("clone3", lambda: program.refuse(errno.ENOSYS))  # its flags are in memory; glibc falls back to clone
    program.when("prctl", lambda: program.refuse_if_equal(0, _PRCTL_REFUSED))
    program.when("ioctl", lambda: program.refuse_if_equal(1, (_TIOCSTI, _TIOCLINUX, *_SETS_AN_OWNER)))
    program.when("fcntl", lambda: program.refuse_if_equal(1, _OWNERS_OF_SIGNALS))
    program.when("sendto", lambda: program.allow_if_null(4))  # to whom the socket is connected: the judge's alone is
    if no_write:
        for name, argument in _OPENS.items():
            program.when(name, lambda argument=argument: program.refuse_if_bits(argument, _OPEN_TO_WRITE))  # type: ignore[misc]
        program.when("openat2", lambda: program.refuse(errno.ENOSYS))
        for name in _WRITES:
            program.when(name, lambda: program.refuse(errno.EROFS))
    for name in numbers:
        if name not in _EXAMINED:
            program.when(name, program.refuse)
    program.allow()
    return b"".join(program.code)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def restrict(*, no_write: bool) -> bool:
    """Load the filter into this process. Returns whether the kernel took it (False on unknown architectures)."""
    if not LINUX or MACHINE not in NUMBERS:
        return False
    code = _assemble(no_write=no_write)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _FilterProgram(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    try:
        syscall(
            NUMBERS[MACHINE]["seccomp"],
            ctypes.c_uint(_SET_MODE_FILTER),
            ctypes.c_uint(_FLAG_TSYNC),
            ctypes.byref(program),
        )
    except OSError:
        return False
    return True
