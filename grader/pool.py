"""Many things done at once, by threads that wait for processes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
FIRST_SECONDS: Final = 0.1


def as_completed(
    items: Iterable[T], work: Callable[[T], R], *, jobs: int, stop: Callable[[], None]
) -> Generator[tuple[int, R]]:
    """Yield the number of each item and what `work` makes of it, in the order of completion.

    An item is taken when a thread is free for it, and nothing is held back once it was yielded. When the caller goes
    away or is interrupted, no further item is taken, and `stop` is called until the threads that are still at work
    have ended. What `work` raises, or the items do, is raised here.
    """
    pool = _Pool(items, work)
    threads = [threading.Thread(target=pool.run, name=f"pool-{number}", daemon=True) for number in range(jobs)]
    try:
        for thread in threads:
            thread.start()
        working = jobs
        while working:
            found = pool.done.get()
            if found is None:
                working -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found
    finally:
        pool.over.set()
        join(threads, stop)


def join(threads: Sequence[threading.Thread], stop: Callable[[], None]) -> None:
    """Call `stop` until all threads have ended: one that was about to begin something may not hear the first call."""
    patience = FIRST_SECONDS
    while any(thread.is_alive() for thread in threads):
        stop()
        until = time.monotonic() + patience
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        patience *= 2


class _Pool(Generic[T, R]):
    """What the threads share."""

    def __init__(self, items: Iterable[T], work: Callable[[T], R]) -> None:
        self._left = enumerate(items)
        self._work = work
        self._lock = threading.Lock()
        self.over = threading.Event()
        self.done: queue.SimpleQueue[tuple[int, R] | BaseException | None] = queue.SimpleQueue()

    def run(self) -> None:
        """Take items until there are none."""
        while not self.over.is_set():
            try:
                with self._lock:
                    taken = next(self._left, None)
                if taken is None:
                    break
                self.done.put((taken[0], self._work(taken[1])))
            except BaseException as error:  # noqa: BLE001 - raised again where somebody hears it
                self.done.put(error)
        self.done.put(None)
