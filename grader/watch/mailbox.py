"""Messages to the main thread, from threads and signal handlers; who waits for them hears the keyboard as well."""

from __future__ import annotations

import contextlib
import os
import queue
import select
from typing import Generic, Self, TypeVar

from grader.watch.keyboard import Keyboard

M = TypeVar("M")


class Mailbox(Generic[M]):
    """Letters in the order in which they were posted."""

    def __init__(self) -> None:
        self._letters: queue.SimpleQueue[M] = queue.SimpleQueue()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
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
