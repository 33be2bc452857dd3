"""Notice at once what becomes of a file: saved in place or by rename, half written, deleted, back again.

The file system's events say when to look, and what is seen then decides. Besides, the file is looked at every few
milliseconds anyway: events do not arrive from network file systems, from the target of a link, nor on WSL, where the
library compares whole seconds and so misses a second save.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grader.errors import BadAnswerFile, NoSuchFile
from grader.workspace import digest, read_answer

STEP_MS: Final = 2
"""How long the library waits for one more event before it tells of the first: all that a save has to wait for."""
TICK_SECONDS: Final = 0.05
BREATH_SECONDS: Final = 0.08
"""How long a file that looks half written must stay as it is before it is believed."""
EMPTY_SECONDS: Final = 1.0
"""How long a file must be empty: a save in place empties it first, and a busy machine may stop there for a while."""
ABSENCE_SECONDS: Final = 0.25
"""How long a file must be gone: some editors move it away and write a new one."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The file holds this text."""

    source: str
    digest: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The file is there and no text of an answer."""

    error: BadAnswerFile


@dataclass(frozen=True, slots=True)
class Gone:
    """The file is not there."""


@dataclass(frozen=True, slots=True)
class WatchFailed:
    """The watch itself failed."""

    error: Exception


FileState = Saved | Unreadable | Gone | WatchFailed
_Traits = tuple[int, ...] | None


class FileWatcher:
    """A thread that looks at one file until it is closed and tells of each save, also of one that changes nothing."""

    def __init__(self, path: Path, tell: Callable[[FileState], None]) -> None:
        """Look at `path`; `tell` is called from the thread, with what the file holds at the beginning first."""
        self._path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the learner's links
        self._tell = tell
        self._closed = threading.Event()
        self._traits: _Traits = None
        self._looked = False
        self._thread = threading.Thread(target=self._run, name="file-watcher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop looking; waits for the thread."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._closed.is_set():
                self._follow(self._nearest_folder())
        except Exception as error:  # noqa: BLE001 - the main thread raises it
            self._tell(WatchFailed(error))

    def _nearest_folder(self) -> Path:
        """Return the folder of the file, or what is left above it."""
        return next(folder for folder in self._path.parents if folder.is_dir())

    def _follow(self, folder: Path) -> None:
        """Look as long as `folder` is the one to watch."""
        identity = _identity(folder)
        for changed in self._looks(folder):
            # What changed since the watch began counts: the file is looked at before the first wait, too.
            self._look()
            if str(folder) in changed or _identity(folder) != identity or self._nearest_folder() != folder:
                return

    def _looks(self, folder: Path) -> Iterator[set[str]]:
        """Yield what changed in a folder, at each event and at each tick; the empty set at once."""
        yield set()
        try:
            yield from self._events(folder)
        except (OSError, RuntimeError):
            # No events here (a limit on watches, a folder that has just gone): looking must do.
            while not self._closed.wait(TICK_SECONDS):
                yield set()

    def _events(self, folder: Path) -> Iterator[set[str]]:
        from watchfiles import watch  # noqa: PLC0415 - takes its time, and the first look needs none

        changes = watch(
            folder,
            watch_filter=None,
            debounce=5 * STEP_MS,
            step=STEP_MS,
            stop_event=self._closed,
            rust_timeout=int(1000 * TICK_SECONDS),
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        )
        for found in changes:
            yield {path for _change, path in found}

    def _look(self) -> None:
        if self._looked and _traits(self._path) == self._traits:
            return
        state = self._settled(self._state())
        if state is not None:
            self._looked = True
            self._tell(state)

    def _state(self) -> FileState:
        # The traits are older than the text: what is written in between is another look's business.
        self._traits = _traits(self._path)
        try:
            source = read_answer(self._path)
        except NoSuchFile:
            return Gone()
        except BadAnswerFile as error:
            return Unreadable(error)
        return Saved(source, digest(source.encode()))

    def _settled(self, state: FileState) -> FileState | None:
        """Return what the file is once it stays so; None when the watch is closed meanwhile."""
        since = time.monotonic()
        while (wait := _patience(state) - (time.monotonic() - since)) > 0:
            if self._closed.wait(min(wait, TICK_SECONDS / 5)):
                return None
            if _traits(self._path) != self._traits:
                state, since = self._state(), time.monotonic()
        return state


def _patience(state: FileState) -> float:
    """Return how long something must last before it is told: a whole file is told at once."""
    if isinstance(state, Gone):
        return ABSENCE_SECONDS
    if isinstance(state, Saved) and not state.source.strip():
        return EMPTY_SECONDS
    return 0.0 if isinstance(state, Saved) and state.source.endswith("\n") else BREATH_SECONDS


def _traits(path: Path) -> _Traits:
    """Return what changes when a file does, None where there is none to ask."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
