"""The line that moves is as wide as the terminal in which it moves, wherever the results go."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

MOVES = """
from grader.show.progress import Progress

with Progress("mha") as progress:
    progress({"event": "plan", "total": 325})
    progress({"event": "progress", "done": 94, "failed": 65, "title": "three axes some of them one"})
"""


def test_results_in_a_pipe_and_a_narrow_terminal() -> None:
    """A line that is cut at another width than that of the terminal breaks, and is not gone at the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
    try:
        subprocess.run(
            [sys.executable, "-c", MOVES], stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True
        )
        os.close(theirs)
        told = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
    lines = told.split("\r\x1b[K")
    assert any(line.startswith("mha: case 94 of 325") for line in lines)
    assert max(map(len, lines)) < 40
