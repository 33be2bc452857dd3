"""Every error that a person can meet, with its exit code and the next step.

KataError                      3
├── UsageError                 2  the command cannot be carried out as it was given
│   ├── UnknownKata
│   ├── NoCurrentKata
│   ├── NoSuchFile
│   ├── NotInWorkspace
│   ├── BadAnswerFile
│   │   └── NotUtf8
│   ├── NoSuchVersion
│   ├── NotPassedYet
│   ├── NotRepairedYet
│   ├── RoundIsOpen
│   ├── NoDebugRound
│   ├── MockRuns
│   ├── TooFewMistakes
│   └── NothingToReproduce
├── BadKataFile                3  a kata on disk breaks the rules of docs/writing-a-kata.md
├── WorkspaceError             3  the learner's folder cannot be written
├── StateError                 3  the history cannot be read or written
│   └── NewerState             3  a newer kata wrote it
└── GraderFailed               3  the grading itself broke, through no fault of the answer
"""
# ruff: noqa: N818 - the names read as what happened

import errno
from collections.abc import Sequence
from pathlib import Path

from grader.language import _, plural, together


class KataError(Exception):
    """An error that is shown to the learner as a sentence, never as a traceback."""

    exit_code = 3

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def in_one_line(self) -> str:
        """Return the sentence and the next step, for a field that holds both."""
        message = self.message if self.message.endswith((".", "!", "?", "。")) else f"{self.message}."
        return together(message, self.hint)


class UsageError(KataError):
    """The command cannot be carried out as it was given."""

    exit_code = 2


class UnknownKata(UsageError):
    """No kata has this name."""

    def __init__(self, name: str, suggestions: Sequence[str] = ()) -> None:
        self.name = name
        self.suggestions = tuple(suggestions)
        hint = _("`kata list` shows them all.")
        if suggestions:
            hint = _("Did you mean {names}?").format(names=_(" or ").join(suggestions))
        super().__init__(_("There is no kata '{name}'.").format(name=name), hint)


class NoCurrentKata(UsageError):
    """No kata was named and none has been started."""

    def __init__(self) -> None:
        super().__init__(
            _("No kata has been started yet, so this command needs a name."),
            _("`kata list` shows the katas, `kata start KATA` begins one."),
        )


class NoSuchFile(UsageError):
    """The answer is not where it should be."""

    def __init__(self, path: Path, hint: str = "") -> None:
        self.path = path
        super().__init__(_("There is no file {path}.").format(path=path), hint)


class NotInWorkspace(UsageError):
    """A file was named that is none of the learner's answers."""

    def __init__(self, path: Path, folder: Path) -> None:
        super().__init__(
            _("{path} is not in the workspace {folder}.").format(path=path, folder=folder),
            _(
                "`kata grade --file {path}` grades a file elsewhere; `kata --workspace FOLDER ...` uses another one."
            ).format(path=path),
        )


class BadAnswerFile(UsageError):
    """The answer cannot be read as a Python source file."""

    def __init__(self, path: Path, problem: str, hint: str = "") -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} {problem}", hint)


class NotUtf8(BadAnswerFile):
    """The answer is no UTF-8 text, which Python would not load either: the answer's failure where it is graded."""

    def __init__(self, path: Path, data: bytes, at: int) -> None:
        self.data = data
        self.line = data.count(b"\n", 0, at) + 1
        self.byte = data[at]
        problem = _("is not UTF-8 text: line {line} has the byte 0x{byte:02x}.")
        super().__init__(
            path, problem.format(line=self.line, byte=self.byte), _("Save the file as UTF-8 in your editor.")
        )


class NoSuchVersion(UsageError):
    """No kept version of the file has this number, or there is none at all."""


class NotPassedYet(UsageError):
    """The solution is not shown before the kata is passed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("The solution of {name} is shown once you have passed it.").format(name=name),
            _(
                "`kata hint {name}` goes a step further; `kata solution {name} --give-up` shows it all the same, "
                "and says so in your history."
            ).format(name=name),
        )


class NotRepairedYet(UsageError):
    """The planted mistakes are not shown before the file is repaired."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("What was planted in {name} is shown once you have repaired it.").format(name=name),
            _(
                "`kata hint {name} --debug` goes a step further; `kata solution {name} --debug --give-up` shows it all "
                "the same, and says so in your history."
            ).format(name=name),
        )


class RoundIsOpen(UsageError):
    """A debug round has other mistakes than those that are asked for, and is not over."""

    def __init__(self, name: str, bugs: int, seed: int) -> None:
        sentence = plural(
            "A debug round of {name} is open: {count} planted mistake, seed {seed}.",
            "A debug round of {name} is open: {count} planted mistakes, seed {seed}.",
            bugs,
        )
        super().__init__(
            sentence.format(name=name, count=bugs, seed=seed),
            _("`kata start {name} --debug` goes on with it, `kata solution {name} --debug --give-up` ends it.").format(
                name=name
            ),
        )


class NoDebugRound(UsageError):
    """No debug round of this kata is known."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("No debug round of {name} is known here.").format(name=name),
            _("`kata start {name} --debug` begins one.").format(name=name),
        )


class MockRuns(UsageError):
    """A mock interview runs, and what was asked for would help in it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("A mock interview that asks {name} runs: this waits until it is over.").format(name=name),
            _("`kata mock` goes on with it, `kata mock --end` ends it."),
        )


class TooFewMistakes(UsageError):
    """So many mistakes of a kata cannot be planted together."""

    def __init__(self, name: str, wanted: int, known: int, together: int) -> None:
        self.together = together
        sentence = plural(
            "{name} has {count} mistake that can be planted, at most {together} at once: {wanted} are too many.",
            "{name} has {count} mistakes that can be planted, at most {together} at once: {wanted} are too many.",
            known,
        )
        super().__init__(sentence.format(name=name, count=known, together=together, wanted=wanted))


class NothingToReproduce(UsageError):
    """No failed attempt has a call that a script could repeat."""


class BadKataFile(KataError):
    """A file of a kata is missing or breaks the rules."""

    def __init__(self, file: Path, key: str, problem: str) -> None:
        self.file = file
        self.key = key
        self.problem = problem
        super().__init__(
            f"{file}: {key}: {problem}" if key else f"{file}: {problem}",
            _("docs/writing-a-kata.md describes the files of a kata."),
        )


class WorkspaceError(KataError):
    """The learner's folder cannot be written, or a file elsewhere, for which the ``hint`` says what helps."""

    def __init__(self, path: Path, error: OSError, hint: str = "") -> None:
        self.path = path
        super().__init__(
            _("Cannot write {path}: {reason}.").format(path=path, reason=reason(error)),
            hint or _("`kata --workspace FOLDER ...` or KATA_WORKSPACE chooses another folder."),
        )


class ChangedOnDisk(UsageError):
    """Another program has written the file since its text was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        sentence = _("{path} has changed on disk: another program has written it. Nothing was saved.")
        super().__init__(sentence.format(path=path), _("Take its text, or save yours: the other one is kept."))


class StateError(KataError):
    """The history cannot be read or written."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint or _("KATA_HOME=FOLDER keeps the history in another folder."))


class NewerState(StateError):
    """A newer kata wrote the history; this one leaves it alone."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            _("{path} was written by a newer kata (schema {found}, this one knows {known}).").format(
                path=path, found=found, known=known
            ),
            _("Update kata, or set KATA_HOME to another folder. The file was not touched."),
        )


class GraderFailed(KataError):
    """The grading itself broke, through no fault of the answer."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint or _("`kata doctor` checks this machine."))


def reason(error: OSError) -> str:
    """Say in plain words why the operating system refused."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _("the disk is full")
    if error.errno == errno.EROFS:
        return _("the disk is read-only")
    if error.errno in {errno.EACCES, errno.EPERM}:
        return _("you have no permission to write there")
    if error.errno in {errno.ENOTDIR, errno.EEXIST}:
        return _("a file is in the place of a folder")
    return (error.strerror or str(error)).lower()
