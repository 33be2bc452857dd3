"""Which line of the learner's file a call came from."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def line_on_stack(filename: str, frame: FrameType | None) -> int:
    """Return the line of the innermost frame of `filename` from `frame` outwards, 0 if there is none."""
    while frame is not None:
        if frame.f_code.co_filename == filename:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def line_of(filename: str, frame: FrameType | None) -> int:
    """Return the line as `line_on_stack`; a thread without such a frame is charged to the line that waits for it."""
    line = line_on_stack(filename, frame)
    if line:
        return line
    here = threading.get_ident()
    for thread, other in sys._current_frames().items():  # noqa: SLF001 - the only way to another thread's stack
        if thread != here and (line := line_on_stack(filename, other)):
            return line
    return 0
