"""The file of results: a line for each sample, written as soon as it is graded, each sample once."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from grader.errors import UsageError
from grader.evaluation.samples import Samples, parsed
from grader.evaluation.score import Tally
from grader.language import _
from grader.text import clean, shown

Row = dict[str, Any]
REWARDS: Final = {"passed": 1, "failed": 0, "error": None}
LONGEST_MESSAGE: Final = 500
MOST_SAMPLES: Final = 1 << 30
"""Of one kata; a larger number is none."""


def row(report: dict[str, Any], number: int, digest: str, same_as: int | None) -> Row:
    """Return the line of one sample. An error of the grader has no reward: it says nothing of the answer."""
    found = {
        "task_id": report["kata"],
        "sample": number,
        "verdict": report["verdict"],
        "reward": REWARDS[report["verdict"]],
        "families": report["families"],
        "causes": causes(report),
        "message": clean(report["message"], LONGEST_MESSAGE),
        "seed": report["seed"],
        "seconds": round(report["seconds"], 3),
        "digest": digest,
    }
    return found | ({} if same_as is None else {"same_as": same_as})


def causes(report: dict[str, Any]) -> list[str]:
    """Return the names of the known mistakes among the causes: of the others a place is known at best."""
    return [cause["id"] for cause in report["causes"] if cause["title"] and cause["id"] != "seen"]


class Results:
    """The open file, which nobody else writes meanwhile."""

    def __init__(self, path: Path, samples: Samples, *, resume: bool) -> None:
        """Open the file; ``resume``: keep what is there and is not missing. Raises UsageError.

        A line that was cut off is removed, and so are errors of the grader: these samples are graded again.
        """
        self.path = path
        self.seed: int | None = None
        self._done = {kata: bytearray(count) for kata, count in samples.counts().items()}
        self._file = _locked(path, "ab+")
        try:
            self._take_up(samples, resume=resume)
        except BaseException:
            self._file.close()
            raise

    def is_done(self, kata: str, number: int) -> bool:
        """Whether a sample has its line."""
        return bool(self._done[kata][number])

    def add(self, found: Row) -> None:
        """Write the line of a sample; once this returns, a kill does not lose it."""
        self._file.write(json.dumps(found, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        self._file.flush()
        self._done[found["task_id"]][found["sample"]] = 1

    def _take_up(self, samples: Samples, *, resume: bool) -> None:
        """Note what is done. Raises UsageError for results of other samples."""
        if self._file.seek(0, os.SEEK_END) and not resume:
            raise UsageError(
                _("{path} is there already.").format(path=shown(self.path)),
                _("--resume goes on where it ended; -o names another file."),
            )
        if samples.path.samefile(self.path):
            raise _foreign(self.path)
        stays, cut = 0, False
        self._file.seek(0)
        for line in self._file:
            found = parsed(line) if line.endswith(b"\n") else None
            if found is None:
                if self._file.read(1) or not self._is_ours(line):
                    raise _foreign(self.path)
                cut = True
                break
            if found.get("verdict") == "error":
                cut = True
                continue
            self._note(found, samples)
            stays += 1
        if cut:
            self._rewrite(stays)

    def _is_ours(self, line: bytes) -> bool:
        """Whether a line that was cut off is the beginning of one of results: nobody else's is removed."""
        begins = [f'{{"task_id": "{kata}", "sample": '.encode() for kata in self._done]
        return any(line.startswith(one) or one.startswith(line) for one in begins)

    def _note(self, found: Row, samples: Samples) -> None:
        task, number = str(found.get("task_id")), found.get("sample")
        if type(number) is not int:
            raise _foreign(self.path)
        if samples.digest(task, number) != found.get("digest"):
            sentence = _("{path} is about other samples: line of {task}, sample {number}.")
            raise UsageError(sentence.format(path=shown(self.path), task=clean(task, 80), number=number))
        if self.is_done(task, number):
            raise _twice(self.path, task, number)
        self._done[task][number] = 1
        self.seed = found["seed"] if self.seed is None else self.seed

    def _rewrite(self, stays: int) -> None:
        """Put what stays into the place of the file, at once or not at all."""
        temporary = self.path.with_name(f".{self.path.name}.{os.urandom(6).hex()}.new")
        new = _locked(temporary, "xb")
        try:
            self._file.seek(0)
            for line in self._file:
                if stays and (found := parsed(line)) and found.get("verdict") != "error":
                    new.write(line)
                    stays -= 1
            new.flush()
            os.fsync(new.fileno())
            temporary.replace(self.path)
        except BaseException:
            new.close()
            temporary.unlink(missing_ok=True)
            raise
        self._file.close()
        self._file = new

    def close(self) -> None:
        """Put everything on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def tallies(paths: Sequence[Path]) -> dict[str, Tally]:
    """Count what came of each task in files of results: those of all shards. Raises UsageError for a sample twice."""
    found: dict[str, Tally] = {}
    seen: dict[str, bytearray] = {}
    for path in paths:
        for line in _rows(path):
            task, number = str(line["task_id"]), int(line["sample"])
            there = seen.setdefault(task, bytearray())
            there.extend(bytes(max(0, number + 1 - len(there))))
            if there[number]:
                raise _twice(path, task, number)
            there[number] = 1
            found.setdefault(task, Tally()).add(str(line["verdict"]))
    return found


def _rows(path: Path) -> Iterator[Row]:
    try:
        with path.open("rb") as file:
            for line in file:
                found = parsed(line)
                if found is not None and {"task_id", "verdict"} <= found.keys() and _is_number(found.get("sample")):
                    yield found
                elif line.endswith(b"\n"):
                    raise _foreign(path)
    except OSError as error:
        sentence = _("{path} cannot be read: {reason}.")
        raise UsageError(sentence.format(path=shown(path), reason=error.strerror)) from error


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST_SAMPLES


def _foreign(path: Path) -> UsageError:
    return UsageError(_("{path} has a line that is none of results.").format(path=shown(path)))


def _twice(path: Path, task: str, number: int) -> UsageError:
    sentence = _("{path}: sample {number} of {task} is there twice.")
    return UsageError(sentence.format(path=shown(path), task=clean(task, 80), number=number))


def _locked(path: Path, mode: str) -> BinaryIO:
    try:
        file: BinaryIO = path.open(mode)  # type: ignore[assignment]  # every mode here is binary
    except OSError as error:
        sentence = _("{path} cannot be written: {reason}.")
        raise UsageError(sentence.format(path=shown(path), reason=error.strerror)) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise UsageError(_("{path} is being written by another command.").format(path=shown(path))) from error
    return file
