"""The versions of an answer that can be brought back: kept files and graded sources, each once, oldest first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from grader.catalog import Kata, typed
from grader.errors import NoSuchVersion
from grader.history import Attempt, History
from grader.language import _
from grader.workspace import Workspace, encoded, read_version


@dataclass(frozen=True, slots=True)
class Version:
    """One version and the last grading of exactly this text, if it was graded."""

    number: int
    at: datetime
    attempt: Attempt | None
    read: Callable[[], str | bytes]


def versions(workspace: Workspace, history: History | None, kata_id: str) -> list[Version]:
    """Return every version of the answer to a kata, numbered from 1.

    A graded version that is not among the kept files (another folder, a file that was deleted) comes from the history.
    """
    attempts = history.attempts(kata_id) if history else []
    graded = {attempt.digest[:10]: attempt for attempt in attempts}
    kept = workspace.kept(kata_id)
    found: list[tuple[datetime, Attempt | None, Callable[[], str | bytes]]]
    found = [(file.at, graded.get(file.digest), partial(read_version, file.path, kept=True)) for file in kept]
    elsewhere = graded.keys() - {file.digest for file in kept}
    if history:
        found += [
            (attempt.at, attempt, partial(history.source, attempt.digest))
            for short, attempt in graded.items()
            if short in elsewhere
        ]
    found.sort(key=lambda version: version[0])
    return [Version(number, at, attempt, read) for number, (at, attempt, read) in enumerate(found, start=1)]


def chosen(found: list[Version], workspace: Workspace, kata_id: str, number: int | None) -> Version:
    """Return version `number`, or the newest one that differs from the present file.

    Raises NoSuchVersion.
    """
    if not found:
        raise NoSuchVersion(
            _("No earlier version of {name} has been kept yet.").format(name=typed(kata_id)),
            _("`kata grade` and `kata reset` keep one each time."),
        )
    listing = _("`kata restore {name} --list` shows them.").format(name=typed(kata_id))
    if number is not None:
        if not 1 <= number <= len(found):
            message = _("There is no version {number} of {name}: they go from 1 to {last}.")
            raise NoSuchVersion(message.format(number=number, name=typed(kata_id), last=len(found)), listing)
        return found[number - 1]
    present = workspace.present(kata_id)
    for version in reversed(found):
        if present is None or encoded(version.read()) != present:
            return version
    message = _("Every version of {name} that was kept is the same as the present file.")
    raise NoSuchVersion(message.format(name=typed(kata_id)), listing)


def beginning(kata: Kata, history: History, lang: str = "en") -> str:
    """Return the file in which an answer to a kata begins: the stub, behind the passed answer that it continues."""
    attempts = history.attempts(kata.continues) if kata.continues else []
    passed = [attempt.digest for attempt in attempts if attempt.whole and attempt.verdict == "passed"]
    stub = kata.stub(lang)
    return f"{encoded(history.source(passed[-1])).decode().rstrip()}\n\n\n{stub}" if passed else stub


def numbers(found: list[Version]) -> dict[str, int]:
    """Return the number of the version that each graded text has, by its digest."""
    return {version.attempt.digest: version.number for version in found if version.attempt}
