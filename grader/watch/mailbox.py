"""Messages to the main thread, from threads and signal handlers; who waits for them hears the keyboard as well."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
from typing import Generic, Self, TypeVar

from grader.watch.keyboard import Keyboard

M = TypeVar("M")


class Mailbox(Generic[M]):
    """Letters in the order in which they were posted; entered in the main thread, which has the signals."""

    def __init__(self) -> None:
        self._letters: queue.SimpleQueue[M] = queue.SimpleQueue()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._woken_before = -1

    def __enter__(self) -> Self:
        # A signal that another thread is given, or that comes just before `select` begins to wait, does not interrupt
        # it, and its handler would run with the next key: so each signal writes a byte as well.
        self._woken_before = signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_error: object) -> None:
        signal.set_wakeup_fd(self._woken_before)
        os.close(self._wake_read)
        os.close(self._wake_write)

    def post(self, letter: M) -> None:
        """Put a letter in, from any thread or signal handler."""
        self._letters.put(letter)
        with contextlib.suppress(BlockingIOError):  # so many wait already that nobody can miss them
            os.write(self._wake_write, b"\0")

    def wait(self, keyboard: Keyboard) -> tuple[list[M], str]:
        """Return the letters and the keys that have come, as soon as there are any."""
        while True:
            keys = [keyboard.fileno()] if keyboard.listening else []
            ready, _writable, _broken = select.select([self._wake_read, *keys], [], [])
            letters = self._emptied() if self._wake_read in ready else []
            pressed = keyboard.pressed() if set(keys) & set(ready) else ""
            if letters or pressed:
                return letters, pressed

    def _emptied(self) -> list[M]:
        # The pipe is emptied first: a letter that comes now wakes again.
        with contextlib.suppress(BlockingIOError):
            while os.read(self._wake_read, 4096):
                pass
        letters = []
        while not self._letters.empty():
            letters.append(self._letters.get())
        return letters
