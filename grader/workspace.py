"""The learner's files: a work that was written is never lost.

workspace/masked_softmax.py                          the answer
workspace/masked_softmax_debug.py                    the file of its debug round
workspace/.attempts/masked-softmax/TIME-DIGEST.py    every version that was graded or moved out of the way

A name is that of a kata, or of its debug rounds: `masked-softmax.debug`.
"""

import errno
import os
import re
import stat
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader import catalog
from grader.errors import BadAnswerFile, ChangedOnDisk, NoSuchFile, NotUtf8, WorkspaceError
from grader.language import _

MAX_ANSWER_BYTES = 1 << 20

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_KEPT = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-([0-9a-f]{10})\.py")


@dataclass(frozen=True, slots=True)
class Kept:
    """One version in `.attempts`."""

    path: Path
    at: datetime
    digest: str


class Workspace:
    """The folder in which a learner writes answers. Nothing in it is overwritten."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kata_id: str) -> Path:
        """Return where the answer to a kata lies, or would lie."""
        return self.folder / catalog.filename(kata_id)

    def start(self, kata_id: str, stub: str) -> bool:
        """Write the stub unless there is a file already; tell whether it was written."""
        path = self.path(kata_id)
        try:
            if os.path.lexists(path):
                return False
            return _place(_temporary(path, stub.encode()), path)
        except OSError as error:
            raise WorkspaceError(path, error) from error

    def keep(self, kata_id: str, source: str | bytes) -> Path:
        """Keep a version of the answer and return where; the newest version is not kept twice in a row."""
        try:
            return self._keep(self._attempts(kata_id), encoded(source))
        except OSError as error:
            raise WorkspaceError(self._attempts(kata_id), error) from error

    def kept(self, kata_id: str) -> list[Kept]:
        """Return the versions of the answer that were kept, oldest first."""
        return _kept(self._attempts(kata_id))

    def reset(self, kata_id: str, stub: str, untouched: Collection[str] = ()) -> Path | None:
        """Put the stub in the place of the answer and return where that was moved: None if it was the stub already.

        ``untouched`` are other files that nobody has written anything into: they are replaced and not kept.

        Raises NoSuchFile where there is no answer to move.
        """
        path = self.path(kata_id)
        if not os.path.lexists(path):
            hint = _("`kata start {name}` begins it.").format(name=catalog.typed(kata_id))
            raise NoSuchFile(path, hint)
        return self._exchange(path, self._attempts(kata_id), stub.encode(), disposable=(stub, *untouched))

    def restore(self, kata_id: str, version: str | bytes, *untouched: str) -> Path | None:
        """Put an older version in place and return where the present one was moved, None if nothing was in the way."""
        path = self.path(kata_id)
        return self._exchange(path, self._attempts(kata_id), encoded(version), disposable=untouched)

    def save(self, name: str, text: str, seen: str | None, *untouched: str) -> None:
        """Write an answer whose writer has ``seen`` this text in its place, None for no file; what was there is kept.

        Raises ChangedOnDisk where the file holds something else by now, BadAnswerFile for more than 1 MiB; nothing is
        written then.
        """
        path = self.path(name)
        _refuse_too_large(path, text.encode())
        if path.is_symlink():
            path = path.resolve()  # written through: the link is the learner's
        try:
            present = decoded(path, read_version(path))
        except NoSuchFile:
            present = None
        if present != seen:
            raise ChangedOnDisk(self.path(name))
        if present == text:
            return
        try:
            if path != self.path(name) and present is not None:
                self._keep(self._attempts(name), present.encode())
                _temporary(path, text.encode()).replace(path)
            else:
                self._exchange(path, self._attempts(name), text.encode(), disposable=untouched)
        except OSError as error:
            raise WorkspaceError(path, error) from error

    def write_repro(self, kata_id: str, script: str) -> tuple[Path, Path | None]:
        """Write the script that repeats a failing call; return its path and where an older one was moved, if any."""
        path = self.folder / f"repro_{catalog.filename(kata_id)}"
        return path, self._exchange(path, self.folder / ".attempts" / path.stem, script.encode(), disposable=[""])

    def write_page(self, path: Path, text: str) -> Path:
        """Write a page about what was done, and return its path; an older one is moved into `.attempts`."""
        self._exchange(path, self.folder / ".attempts" / path.stem, text.encode(), disposable=[""])
        return path

    def plant(self, name: str, source: str) -> Path | None:
        """Write the file of a new debug round and return where that of an older one was moved, if any."""
        return self._exchange(self.path(name), self._attempts(name), source.encode(), disposable=[""])

    def changed(self, name: str) -> datetime | None:
        """Return when a file was written last, None where there is none."""
        try:
            return datetime.fromtimestamp(self.path(name).stat().st_mtime, UTC)
        except OSError:
            return None

    def present(self, kata_id: str) -> bytes | None:
        """Return what the answer holds now, None where there is no such file to read."""
        try:
            return _bytes(self.path(kata_id))
        except OSError:
            return None

    def _attempts(self, kata_id: str) -> Path:
        return self.folder / ".attempts" / kata_id

    def _exchange(self, path: Path, attempts: Path, new: bytes, disposable: Collection[str]) -> Path | None:
        try:
            old = _bytes(path)
            if old == new:
                return None
            # The new file is written first: a full disk is found out before anything has moved.
            temporary = _temporary(path, new)
            if old in [text.encode() for text in disposable] and not path.is_symlink():
                temporary.replace(path)
                return None
            try:
                moved = self._move(path, attempts) if os.path.lexists(path) else None
            except OSError:
                temporary.unlink()
                raise
            _place_or_refuse(temporary, path)
        except OSError as error:
            raise WorkspaceError(path, error) from error
        return moved

    def _move(self, path: Path, attempts: Path) -> Path:
        data = _bytes(path)
        if data is None:
            attempts.mkdir(parents=True, exist_ok=True)
            return path.rename(attempts / f"{_now().strftime(_STAMP)}-{path.name}")
        kept = self._keep(attempts, data)
        if path.is_symlink():
            path.unlink()
        else:
            # Not unlinked: what an editor saved between the copy and this line goes along.
            path.replace(kept)
        return kept

    def _keep(self, attempts: Path, data: bytes) -> Path:
        kept = _kept(attempts)
        if kept and kept[-1].path.read_bytes() == data:
            return kept[-1].path
        while True:
            path = attempts / f"{_now().strftime(_STAMP)}-{digest(data)[:10]}.py"
            if _place(_temporary(path, data), path):
                return path


def digest(data: bytes) -> str:
    """Return the SHA-256 of a version, in hexadecimal; file names carry its first ten digits."""
    import hashlib  # noqa: PLC0415 - most commands need none

    return hashlib.sha256(data).hexdigest()


def encoded(source: str | bytes) -> bytes:
    """Return the bytes of a version: of a text, or of what is none."""
    return source.encode() if isinstance(source, str) else source


def read_answer(path: Path) -> str:
    """Return the text of an answer, read once.

    Raises NoSuchFile, NotUtf8, or BadAnswerFile for anything but a regular file of at most 1 MiB.
    """
    return decoded(path, read_version(path))


def read_version(path: Path, *, kept: bool = False) -> bytes:
    """Return the bytes of an answer, read once; of one that was ``kept``, however large it is.

    Raises NoSuchFile and BadAnswerFile.
    """
    try:
        # Opening a pipe that nobody writes to must not wait.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise NoSuchFile(path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadAnswerFile(path, _("cannot be read: {reason}.").format(reason=reason)) from error
    try:
        status = os.fstat(descriptor)
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            raise BadAnswerFile(path, _("is a folder, not a Python file."))
        if not stat.S_ISREG(mode):
            raise BadAnswerFile(path, _("is not a regular file."))
        data = _read(descriptor, status.st_size if kept else MAX_ANSWER_BYTES + 1)
    except OSError as error:
        raise BadAnswerFile(path, _("cannot be read: {reason}.").format(reason=error.strerror)) from error
    finally:
        os.close(descriptor)
    if not kept:
        _refuse_too_large(path, data)
    return data


def _read(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    left = most
    while left and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def decoded(path: Path, source: str | bytes) -> str:
    """Return the text of an answer that somebody has read already, as a file of this name would be read.

    Raises NotUtf8, also for a string with halves of characters, and BadAnswerFile for more than 1 MiB.
    """
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    _refuse_too_large(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotUtf8(path, data, error.start) from error


def _refuse_too_large(path: Path, data: bytes) -> None:
    if len(data) > MAX_ANSWER_BYTES:
        raise BadAnswerFile(path, _("is larger than 1 MiB: that is no answer to a kata."))


def _bytes(path: Path) -> bytes | None:
    """Return what a regular file holds; None for everything else, a missing file and a broken link included."""
    return path.read_bytes() if path.is_file() else None


def _kept(attempts: Path) -> list[Kept]:
    try:
        names = sorted(entry.name for entry in attempts.iterdir())
    except OSError:
        return []
    matches = (match for name in names if (match := _KEPT.fullmatch(name)) and (attempts / name).is_file())
    return [Kept(attempts / match[0], datetime.fromisoformat(match[1]), match[2]) for match in matches]


def _temporary(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.new")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _place(temporary: Path, path: Path) -> bool:
    """Move a finished file to a free place; False, and nothing changed, where the place is taken."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links: the best it offers is a check beforehand.
        if os.path.lexists(path):
            return False
        temporary.replace(path)
        return True
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    return True


def _place_or_refuse(temporary: Path, path: Path) -> None:
    if not _place(temporary, path):
        raise OSError(errno.EBUSY, _("another program has just written it"))


def _now() -> datetime:
    return datetime.now(UTC)
