"""The file of the history: opened, migrated, repaired by setting a damaged one aside, shared between processes."""

import functools
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from grader.errors import NewerState, StateError, reason
from grader.language import _
from grader.schema import MIGRATIONS

SCHEMA = len(MIGRATIONS)

_BUSY_SECONDS = 10.0
# The file says that it is no database, that its pages make no sense, or that a table of its own schema is not there.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_NOT_WRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
# https://www.sqlite.org/fileformat2.html#the_database_header
_MAGIC = b"SQLite format 3\0"
_USER_VERSION = slice(60, 64)

# The locks of a file are the process's: whatever closes it drops those of every connection, and then another process
# takes the journal away (https://www.sqlite.org/howtocorrupt.html, 2.2). So nobody but SQLite opens what is open here.
_open_here: "WeakKeyDictionary[Database, int]" = WeakKeyDictionary()
_opening = threading.Lock()

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D", bound="Database")


def survives_damage(method: Callable[Concatenate[D, P], T]) -> Callable[Concatenate[D, P], T]:
    """Set a damaged file aside and do the work on a new one; turn what SQLite raises into a sentence."""

    @functools.wraps(method)
    def wrapper(self: D, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error) or self.read_only:
                raise _state_error(self.path, error) from error
            self.set_aside(error)
        try:
            return method(self, *args, **kwargs)
        except sqlite3.DatabaseError as error:
            raise _state_error(self.path, error) from error

    return wrapper


class Database:
    """One SQLite file, in WAL mode, of the schema that this version knows."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self.path = folder / "history.db"
        self.read_only = False
        self.db: sqlite3.Connection
        self._inode: int | None = None
        self._warn = warn
        self._connect()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error, AttributeError), _opening:
            self.db.close()
            _open_here.pop(self, None)

    def problems(self) -> list[str]:
        """Return what SQLite's own check finds wrong with the whole file: nothing, as a rule."""
        try:
            found = [row[0] for row in self.db.execute("PRAGMA integrity_check(5)")]
        except sqlite3.DatabaseError as error:
            return [str(error)]
        return [] if found == ["ok"] else found

    def set_aside(self, problem: sqlite3.DatabaseError) -> None:
        """Rename a damaged file, say so, and begin a new one; another process may have done it already."""
        inode = self._inode
        self.close()
        try:
            with _lock(self.path.with_suffix(".lock")):
                if _inode(self.path) == inode:
                    self._rename(problem)
        except OSError as error:
            raise StateError(
                _("{path} is damaged ({problem}) and cannot be set aside: {reason}.").format(
                    path=self.path, problem=problem, reason=reason(error)
                )
            ) from error
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            raise _state_error(self.path, error) from error

    def _rename(self, problem: sqlite3.DatabaseError) -> None:
        aside = self.path.with_name(f"history-damaged-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.db")
        self.path.rename(aside)
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
        self._warn(
            _(
                "The history was damaged ({problem}). It has been set aside as {aside}, and a new one begins; "
                "your files in the workspace are as they were."
            ).format(problem=problem, aside=aside)
        )

    def _connect(self) -> None:
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise _state_error(self.path, error) from error
            self.set_aside(error)

    def _open(self) -> None:
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(
                _("The history cannot be kept in {folder}: {reason}.").format(folder=folder, reason=reason(error))
            ) from error
        try:
            with _opening:
                self._find()
            self._prepare()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _NOT_WRITABLE or not self.path.is_file():
                raise
            self.close()
            # What is there can still be read: no journal, no lock, no write.
            self.db = _opened(self.path, "?mode=ro&immutable=1")
            self.read_only = True

    def _find(self) -> None:
        # Taken before the file is opened: a process that sets it aside meanwhile must not be undone by this one.
        inode = _inode(self.path)
        if inode is None or inode not in _open_here.values():
            found = _stored_version(self.path)
            if found > SCHEMA:
                raise NewerState(self.path, found, SCHEMA)
        self.db = _opened(self.path)
        self._inode = inode or _inode(self.path)
        if self._inode is not None:
            _open_here[self] = self._inode

    def _prepare(self) -> None:
        if self.db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            _patiently(lambda: self.db.execute("PRAGMA journal_mode = WAL"))
        self.db.execute("PRAGMA synchronous = NORMAL")
        version = self._version()
        if version < SCHEMA:
            with self.transaction() as db:
                version = self._version()
                for statements in MIGRATIONS[version:]:
                    for statement in statements:
                        db.execute(statement)
                db.execute(f"PRAGMA user_version = {max(version, SCHEMA)}")
        if version > SCHEMA:
            self.close()
            raise NewerState(self.path, version, SCHEMA)

    def _version(self) -> int:
        version: int = self.db.execute("PRAGMA user_version").fetchone()[0]
        return version

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit what the block does, or none of it."""
        # IMMEDIATE: a reader that turns into a writer cannot wait for the other writer, SQLite refuses at once.
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self.db.execute("ROLLBACK")
            raise


def _opened(path: Path, query: str = "") -> sqlite3.Connection:
    name = path.resolve().as_uri() + query if query else str(path)
    return sqlite3.connect(name, timeout=_BUSY_SECONDS, isolation_level=None, uri=bool(query))


def _patiently(action: Callable[[], object]) -> None:
    """Repeat what SQLite refuses at once while another process opens the same new file."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _stored_version(path: Path) -> int:
    """Read the schema's version from the file itself: opening it with SQLite could already change it."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for, a device read for ever
            raise StateError(_("The history {path} cannot be used: it is no regular file.").format(path=path))
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StateError(
            _("The history {path} cannot be read: {reason}.").format(path=path, reason=reason(error))
        ) from error
    return int.from_bytes(header[_USER_VERSION], "big") if header.startswith(_MAGIC) else 0


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    # Errors that Python raises itself carry no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _state_error(path: Path, error: sqlite3.DatabaseError) -> StateError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    problem = {
        sqlite3.SQLITE_FULL: _("the disk is full"),
        sqlite3.SQLITE_BUSY: _("another program has locked it"),
        sqlite3.SQLITE_READONLY: _("it is read-only"),
        sqlite3.SQLITE_CANTOPEN: _("the file or its folder cannot be opened for writing"),
    }.get(code, str(error))
    return StateError(_("The history {path} cannot be used: {problem}.").format(path=path, problem=problem))


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Let one process at a time set a file aside."""
    try:
        import fcntl  # noqa: PLC0415 - not everywhere, and rarely needed
    except ImportError:
        yield
        return
    # Opening a pipe in its place must not wait for a reader.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
