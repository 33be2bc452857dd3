"""Lets requests wait for news: rung by the desk, heard by the server's own thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Bell:
    """Rings for everybody who waits."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self.closed = False

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say whose requests wait."""
        self._loop = loop

    def ring(self) -> None:
        """Wake everybody, from any thread."""
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """Wake everybody, and let nobody wait any more: the server ends."""
        self.closed = True
        self.ring()

    async def until(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """Return what is seen as soon as something is, or None after so many seconds."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            news = self._news  # before the look: what rings behind it wakes
            found = look()
            left = deadline - asyncio.get_running_loop().time()
            if found is not None or left <= 0 or self.closed:
                return found
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), left)

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
