"""What is said of the place where an answer goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from grader.judge.explain.locate.region import Region, Right
from grader.judge.explain.locate.statements import Statements
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _

FEW: Final = 3
MOST_LINES: Final = 15
"""More statements than so many are no place."""


@dataclass(frozen=True, slots=True)
class Located:
    """The lines at which an answer leaves the path of the reference, and how that is known."""

    case: CaseOutcome
    lines: tuple[int, ...]
    sentence: str
    title: str = ""
    """What it is called where more is known than the place."""
    push: str = ""
    is_open: bool = False
    """Whether something goes in that was made before, which may be to blame itself."""
    is_measured: bool = False
    """Whether the sentence says a number that this case alone has."""

    shows: int = 0
    """The line whose result is what a named mistake makes there, and nothing of that before it."""
    left_out: tuple[int, ...] = ()
    """Lines around it that are farther away, of which there are too many."""
    looked_through: int = 0
    """How many steps were compared for that."""

    @property
    def is_place(self) -> bool:
        """Whether it is of so few lines that it tells something."""
        return len(self.lines) <= MOST_LINES

    @property
    def breadth(self) -> tuple[bool, int]:
        """How much it leaves open."""
        return self.is_open, len(self.lines)

    @property
    def line(self) -> int:
        """The line to look at first."""
        return self.lines[0]


def told(
    case: CaseOutcome, region: Region | None, statements: Statements, around: Sequence[int] = ()
) -> Located | None:
    """Say what a region tells, and what else may be to blame ``around`` it; None where there is none.

    It may be of more lines than are a place: some of them may turn out not to be to blame.
    """
    if region is None:
        return None
    lines = tuple(dict.fromkeys(statements.of(line) for line in (*region.lines, *around)))
    if not lines:
        return None
    sentence = " ".join(part for part in (_sentence(region, lines, statements), _beside(region)) if part)
    return Located(case, lines, sentence, is_open=region.is_open, is_measured=bool(region.times))


def with_unused(place: Located, lines: Sequence[int]) -> Located:
    """Say of a place which of its lines make what nobody uses."""
    if not lines:
        return place
    sentence = _("Nobody uses what is made in {where}.").format(where=listed(lines))
    return replace(place, sentence=f"{place.sentence} {sentence}")


def _returned(returned: str, right: Right, where: str) -> str:
    """Say that a result is right so far; ``returned``: its name, if it has one."""
    what = _("What is returned")
    if returned.isidentifier():
        what = _("What is returned as `{returned}`").format(returned=returned)
    if right.name:
        sentence = _("{what} has the numbers of `{name}`: a step is missing after {where}.")
        return sentence.format(what=what, name=right.name, where=where)
    return _("{what} is right so far: a step is missing after {where}.").format(what=what, where=where)


def _sentence(region: Region, lines: tuple[int, ...], statements: Statements) -> str:
    where, right = listed(lines), region.right
    if right is not None and not region.returned and statements.of(right.line) in lines:
        right = None
    if region.returned and right is not None:
        return _returned(region.returned, right, listed([statements.of(line) for line in region.lines[:1]]))
    if right is None:
        begin = _("What goes in is right") if region.right is not None else _("The inputs are right")
    else:
        begin = _begin(right, statements.of(right.line), lines)
    if region.raised:
        return _("{begin}; {where}: what is computed there fails.").format(begin=begin, where=where)
    if region.reshaped:
        return _("{begin}; then the right numbers lie in another shape: {where}.").format(begin=begin, where=where)
    if region.reordered:
        return _("{begin}; then the right numbers lie in another order: {where}.").format(begin=begin, where=where)
    if region.times:
        sentence = _("{begin}; `{name}` comes out {times} times as large: {where}.")
        return sentence.format(begin=begin, where=where, name=region.missing, times=f"{region.times:.3g}")
    if region.missing and (right is None or region.missing != right.name):
        return _("{begin}; what the model answer calls `{name}` was not found: {where}.").format(
            begin=begin, name=region.missing, where=where
        )
    return _("{begin}; what becomes of it is not: {where}.").format(begin=begin, where=where)


def _begin(right: Right, line: int, lines: tuple[int, ...]) -> str:
    """Say what is right before some lines; where one of these comes before it, that it is, and not up to where."""
    if any(other < line for other in lines):
        sentence = _("`{name}` (line {line}) is right") if right.name else _("Line {line} is right")
    else:
        sentence = _("Right up to `{name}` (line {line})") if right.name else _("Right up to line {line}")
    return sentence.format(name=right.name, line=line)


def _beside(region: Region) -> str:
    return _("What was made before the call goes in there, too.") if region.is_open else ""


def listed(lines: Sequence[int]) -> str:
    """Name lines: one, a few, or from where to where; of many that are apart, those behind one another together."""
    if len(lines) == 1:
        return _("line {line}").format(line=lines[0])
    if len(lines) > FEW and max(lines) - min(lines) < 2 * len(lines):
        return _("lines {first} to {last}").format(first=min(lines), last=max(lines))
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line == runs[-1][-1] + 1 and len(lines) > FEW:
            runs[-1].append(line)
        else:
            runs.append([line])
    told = [text for run in runs for text in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run))]
    return _("lines {lines}").format(lines=_(", ").join(told))
