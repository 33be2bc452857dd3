"""The samples of a model in a file: indexed once, read when they are graded, those to one kata after the other.

What stays in memory of a sample is where it stands and 16 bytes that tell its text from others.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final

from grader import catalog
from grader.errors import UnknownKata, UsageError
from grader.evaluation.completions import unwrapped
from grader.language import _
from grader.text import clean, shown

LONGEST_LINE: Final = 16 << 20
"""An answer has at most 1 MiB, of which JSON makes six at worst; behind it may stand what a model has said besides."""
DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Sample:
    """Equal answers to one kata: the numbers of the samples that hold them, and the text."""

    kata: str
    numbers: list[int]
    digest: str
    source: str


@dataclass(slots=True)
class _Task:
    """Where the samples for one kata stand, and what their texts come to."""

    offsets: array[int] = field(default_factory=lambda: array("Q"))
    digests: bytearray = field(default_factory=bytearray)

    def digest(self, number: int) -> str:
        return self.digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES].hex()


class Samples:
    """A file of lines `{"task_id": ..., "completion": ...}`; the first for a kata has the number 0."""

    def __init__(self, path: Path) -> None:
        """Index the file. Raises UsageError where there is no sample, and for what is none, with its line."""
        self.path = path
        self._tasks: dict[str, _Task] = {}
        try:
            with path.open("rb") as file:
                for offset, number, line in _lines(file, path):
                    kata, source = self._parsed(line, number)
                    task = self._tasks.setdefault(kata, _Task())
                    task.offsets.append(offset)
                    task.digests += _digest(source)
        except OSError as error:
            raise _unreadable(path, error) from error
        if not self._tasks:
            raise UsageError(_("{path} holds no sample.").format(path=shown(path)))
        order = [kata_id for kata_id in catalog.katas() if kata_id in self._tasks]
        self._tasks = {kata_id: self._tasks[kata_id] for kata_id in order}

    def counts(self) -> dict[str, int]:
        """Return how many samples there are for each kata, in the order of the course."""
        return {kata: len(task.offsets) for kata, task in self._tasks.items()}

    def digest(self, kata: str, number: int) -> str | None:
        """Return what the text of a sample comes to, None where there is no such sample."""
        task = self._tasks.get(kata)
        return task.digest(number) if task and number < len(task.offsets) else None

    def grouped(self, shard: tuple[int, int] = (1, 1)) -> Iterator[tuple[str, list[int]]]:
        """Yield kata and numbers of all samples of a shard, equal texts together, one kata after the other.

        A shard has every so many-th text of each kata; equal texts are in the same one.
        """
        which, of = shard
        for kata, task in self._tasks.items():
            texts: dict[str, list[int]] = {}
            for number in range(len(task.offsets)):
                texts.setdefault(task.digest(number), []).append(number)
            for place, numbers in enumerate(texts.values()):
                if place % of == which - 1:
                    yield kata, numbers

    def read(self, file: BinaryIO, kata: str, numbers: list[int]) -> Sample:
        """Read the text of equal samples from the open file. Raises UsageError where that is another one by now."""
        task = self._tasks[kata]
        file.seek(task.offsets[numbers[0]])
        digest = task.digest(numbers[0])
        found, source = self._parsed(file.readline(), 0)
        if found != kata or _digest(source).hex() != digest:
            raise UsageError(_("{path} has changed since it was opened.").format(path=shown(self.path)))
        return Sample(kata, numbers, digest, source)

    def _parsed(self, line: bytes, number: int) -> tuple[str, str]:
        try:
            document = json.loads(line)
            task, completion = document["task_id"], document["completion"]
        except (ValueError, RecursionError):
            raise self._wrong(number, _("it is no JSON document.")) from None
        except (KeyError, TypeError, IndexError):
            raise self._wrong(number, _("a sample has `task_id` and `completion`.")) from None
        if not isinstance(task, str) or not isinstance(completion, str):
            raise self._wrong(number, _("`task_id` and `completion` are texts."))
        if task not in catalog.katas():
            try:
                catalog.find(task)
            except UnknownKata as error:
                raise self._wrong(number, clean(error.message, 200)) from None
            raise self._wrong(number, _("the kata is called {kata}.").format(kata=catalog.find(task).id))
        return task, unwrapped(completion, catalog.katas()[task].entry)

    def _wrong(self, number: int, problem: str) -> UsageError:
        sentence = _("{path}, line {number}: {problem}")
        return UsageError(sentence.format(path=shown(self.path), number=number, problem=problem))


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            sentence = _("{path}, line {number}: it is longer than 16 MiB.")
            raise UsageError(sentence.format(path=shown(path), number=number))
        if line.strip():
            yield offset, number, line
        offset += len(line)


def _digest(source: str) -> bytes:
    return blake2b(source.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def _unreadable(path: Path, error: OSError) -> UsageError:
    sentence = _("{path} cannot be read: {reason}.")
    return UsageError(sentence.format(path=shown(path), reason=error.strerror))


def parsed(line: bytes) -> dict[str, Any] | None:
    """Return the document in a line, None where there is none: the end of a file that somebody was writing."""
    try:
        document = json.loads(line)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
