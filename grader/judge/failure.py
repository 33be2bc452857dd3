"""How a case fails: what is shown to the learner and what goes into the report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from grader.judge.tolerance import Tolerance
from grader.language import _, marked
from grader.text import clean
from grader.transport.sentences import exception_in_words, in_words

Outcome = Literal["passed", "failed", "timeout", "crashed", "skipped"]

Ending = Literal["timeout", "crashed", "memory", "output", "protocol"]

_OUTCOME_OF_ENDING: Final[dict[str, Outcome]] = {"timeout": "timeout"}
_LONGEST_MESSAGE: Final = 300
MOST_LINES: Final = 1_000_000
_TORCH_LACKS: Final = re.compile(r"not implemented for '|^the derivative for '|^Could not run '")
"""What torch says where it has no operation for a dtype or a device, or no derivative: nobody left that to write."""
NOTHING_WRITTEN: Final = marked("nothing is written yet: the stub still raises NotImplementedError")
_REFUSED: Final = marked("the sandbox refused it: an answer may not touch files, sockets or other processes")

_NOT_INSTALLED: Final = marked(
    "it is kata's own environment that lacks it, whatever others have: an answer is one file, with torch and Python "
    "alone"
)


@dataclass(eq=False)
class Failure(Exception):
    """A case that the answer did not pass; facts only, in whole sentences."""

    kind: str
    message: str
    outcome: Outcome = "failed"
    line: int = 0
    call: str = ""
    size: int = 0
    counted: float = 0.0
    """What a cost came to that is over its limit."""
    tolerance: Tolerance | None = None
    """How far the numbers that differ may be apart."""
    times: float = 0.0
    """How many times as far apart they are, where all are finite."""
    at: int = -1
    """The number of the operation in its run that failed, -1 for the last one."""

    @property
    def group(self) -> str:
        """What is looked for in one way: wrong numbers, wrong gradients; any other kind by itself."""
        if "gradient" in self.kind:
            return "gradient"
        return "value" if self.kind in ("value", "nan", "shape") else self.kind

    def seen_at(self, at: int, call: str, size: int) -> Failure:
        """Note in which operation it was seen, where that is not known already."""
        self.call, self.size = self.call or call, self.size or size
        self.at = at if self.at < 0 else self.at
        return self

    def __str__(self) -> str:
        return self.message


class SandboxEnded(Exception):
    """The sandbox did not answer and never will: why, in a sentence, and the learner's line if it is known."""

    def __init__(self, ending: Ending, sentence: str, line: int = 0, seconds: float = 0.0) -> None:
        super().__init__(sentence)
        self.ending, self.sentence, self.line, self.seconds = ending, sentence, line, seconds


class GradingTimeout(Exception):
    """The time for the whole grading is over."""


class Satisfied(BaseException):
    """Leaves the block of ``check.raises`` once the expected error came."""


def unreadable(problem: str) -> Failure:
    """Return the failure for a reply whose content breaks the protocol."""
    sentence = _("the process of your code sent a message that the grader refuses: {problem}")
    return Failure("protocol", sentence.format(problem=in_words(problem)), "crashed")


def from_ending(ended: SandboxEnded) -> Failure:
    """Turn the end of a sandbox into the failure of the case that was running."""
    sentence = ended.sentence
    if ended.ending == "timeout":
        where = (
            _("it was at line {line}").format(line=ended.line)
            if ended.line
            else _("it had stopped itself or was inside a single operation")
        )
        sentence = _("no answer within {seconds:g} s: {where}").format(seconds=ended.seconds, where=where)
    return Failure(ended.ending, sentence, _OUTCOME_OF_ENDING.get(ended.ending, "crashed"), ended.line)


def tampering(reply: dict[str, Any]) -> Failure | None:
    """Return the failure for the first thing that the sandbox noticed about a file that tampers with it.

    A file could keep its sandbox from noticing, never make it notice less of another.
    """
    found = reply.get("tampering")
    if type(found) is not list or not found:
        return None
    first = found[0] if type(found[0]) is list and len(found[0]) == 2 else ["", 0]
    line = first[1] if type(first[1]) is int and 0 < first[1] < MOST_LINES else 0
    return Failure("tampering", in_words(text_of(first[0], _LONGEST_MESSAGE)), line=line)


def from_reply(reply: dict[str, Any]) -> Failure | None:
    """Turn an error that the sandbox reported into a failure; None for a reply that is no error.

    Everything in the reply may be forged: it is read with care and can only make things worse for the answer.
    """
    return tampering(reply) or _from_error(reply)


def _from_error(reply: dict[str, Any]) -> Failure | None:
    kind = reply["kind"]
    if kind not in ("error", "memory", "missing", "large"):
        return None
    name, message = text_of(reply.get("type", "?"), 80), text_of(reply.get("message", ""), _LONGEST_MESSAGE)
    line = learner_line(reply)
    if kind in ("missing", "large"):
        return Failure(kind, in_words(message), line=line)
    if kind == "memory":
        sentence = _("ran out of memory (1 GiB beyond what torch needs): {error}: {message}")
        return Failure(kind, sentence.format(error=name, message=message), line=line)
    if name == "NotImplementedError" and not _TORCH_LACKS.search(message):
        sentence = _("not written yet: {message}") if message else _("not written yet")
        return Failure("stub", sentence.format(message=message), line=line)
    if name in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):
        return Failure(kind, _("your code raised {error} instead of returning").format(error=name), line=line)
    if name in ("Skipped", "Exit", "Failed", "XFailed"):
        sentence = _("your code raised pytest's {error}; that decides nothing here")
        return Failure(kind, sentence.format(error=name), line=line)
    if name == "RecursionError":
        caller = learner_line(reply, above=1)  # the innermost call was cut off anywhere
        return Failure(kind, _("your code calls itself without end (RecursionError)"), line=caller or line)
    if name == "ModuleNotFoundError" and re.fullmatch(r"No module named '\w+'", message):
        sentence = _("{error}: {message} ({reason})")
        return Failure(kind, sentence.format(error=name, message=message, reason=_(_NOT_INSTALLED)), line=line)
    if name == "PermissionError" or "Operation not permitted" in message:
        sentence = _("{error}: {message} ({reason})")
        return Failure(kind, sentence.format(error=name, message=message, reason=_(_REFUSED)), line=line)
    return Failure(kind, f"{name}: {exception_in_words(message)}" if message else name, line=line)


def text_of(value: Any, limit: int) -> str:
    """Return a text of a reply, made safe; a forgery of another type may be nested without end and is not shown."""
    return clean(value, limit) if type(value) is str else "?"


def learner_line(reply: dict[str, Any], above: int = 0) -> int:
    """Return the innermost line of the learner's file in an error reply, or one so many calls above; 0 for none."""
    frames = reply.get("frames")
    if type(frames) is not list or len(frames) <= above:
        return 0
    last = frames[-1 - above]
    number = last[0] if type(last) is list and last else 0
    return number if type(number) is int and 0 < number < MOST_LINES else 0


def raised_types(reply: dict[str, Any]) -> list[str]:
    """Return the names of the exception's classes, most derived first."""
    bases = reply.get("bases")
    return [base for base in bases if type(base) is str] if type(bases) is list else []
