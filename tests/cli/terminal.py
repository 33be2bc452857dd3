"""A terminal for a command: what it writes, which keys it gets, which modes it leaves behind."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from typing import Self

PATIENCE = 30.0
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command in the foreground of a terminal of its own."""

    def __init__(
        self, start: Callable[..., subprocess.Popen[bytes]], *arguments: str, columns: int = 80, rows: int = 24, **more
    ) -> None:
        self._ours, theirs = pty.openpty()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.resize(columns, rows)
        self.modes_before = self.modes()
        environment = {"TERM": "xterm-256color"} | more.pop("environment", {})
        self.process = start(
            *arguments,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            environment=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            **more,
        )
        os.close(theirs)
        self.written = self.log = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as its window does."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self) -> list:
        """Return the modes of the terminal."""
        return termios.tcgetattr(self._ours)

    def press(self, keys: str) -> None:
        """Type something."""
        os.write(self._ours, keys.encode())

    def until(self, text: str) -> str:
        """Wait until a text is written; return all that was written up to it, which then counts no more."""
        deadline = time.monotonic() + PATIENCE
        while (at := self.plain.find(text)) < 0:
            assert select.select([self._ours], [], [], max(0, deadline - time.monotonic()))[0], self.log
            assert self._read(), f"the command ended before it wrote {text!r}: {self.log!r}"
        seen = self.plain[: at + len(text)]
        self.written = self.plain[at + len(text) :]
        return seen

    @property
    def plain(self) -> str:
        """What was written and not waited for yet, without colours and moves."""
        return _SEQUENCE.sub("", self.written)

    def end(self) -> int:
        """Wait for the end of the command; return its exit code."""
        while self._read():
            pass
        return self.process.wait(timeout=PATIENCE)

    def _read(self) -> bool:
        try:
            piece = self._decoder.decode(os.read(self._ours, 4096))
        except OSError:  # Linux: nobody has the other end open
            return False
        self.written += piece
        self.log += piece
        return True
