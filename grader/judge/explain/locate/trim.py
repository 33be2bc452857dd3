"""What a region has too much, and what it lacks: lines that do nothing, and what is put into a name it reads.

A line whose result nobody uses may be what is lacking: `scores.masked_fill(mask, 0.0)` alone does nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from grader.judge.explain.locate.beside import ADDS_AXES
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.region import Region
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import Trace
from grader.judge.explain.locate.uses import NEGATES, does_nothing, only_reserves, readers
from grader.judge.explain.locate.words import FEW

KEEPS: Final = frozenset(("add", "append", "appendleft", "extend", "insert", "setdefault", "update"))
"""Methods that put something where it may be read at any time."""


def without_idle(region: Region, answer: Trace, statements: Statements, model: str) -> Region:
    """Leave out what the reference has word for word, and what did nothing here, unless that is all.

    Where something is raised an axis may be put in by the reference's own words, and in another case than it does.
    """
    flow, theirs, every = flow_of(statements.source), flow_of(model), answer.steps
    made = (n for n in region.steps if not every[n].moves and every[n].operation not in NEGATES)
    busy = {every[n].line for n in made if not does_nothing(answer, n)}
    puts = {every[n].line for n in region.steps if every[n].operation in ADDS_AXES} if region.raised else set()
    idle = [line for line in region.lines if line not in busy | puts and not flow.is_own(line, theirs)]
    left = tuple(line for line in region.lines if line not in idle)
    if len(region.lines) <= FEW:  # it may have had something to do
        left = tuple(line for line in region.lines if line in puts or flow.is_own(line, theirs))
    return replace(region, lines=left) if left else region


def without_reserved(region: Region, answer: Trace) -> Region:
    """Leave out the lines that only make room for what others write: these are right."""
    read_by = readers(answer)
    reserves = {number for number in region.steps if only_reserves(answer, number, read_by)}
    idle = {answer.steps[number].line for number in reserves}
    idle -= {answer.steps[number].line for number in region.steps - reserves}
    return replace(region, lines=tuple(line for line in region.lines if line not in idle))


def unused(answer: Trace, statements: Statements, model: str) -> tuple[int, ...]:
    """Return the lines of statements that ran, have a result, and nobody uses it: not what the reference does, too."""
    flow, theirs = flow_of(statements.source), flow_of(model)
    calls = {one.caller for one in answer.passed}
    read = {number for step in answer.steps for number in step.reads}
    made: dict[int, list[int]] = {}
    for number, step in enumerate(answer.steps):
        made.setdefault(step.at, []).append(number)
    found: dict[int, bool] = {}
    broken = _callers(answer, len(answer.passed) - 1) if answer.raised else set[int]()
    for at, one in enumerate(answer.passed):
        statement = flow.at(one.line)
        if at in broken:
            found[statement.line] = False  # it did not come to its result
        if not statement.drops or statement.acts in KEEPS or not flow.is_own(statement.line, theirs):
            continue
        steps = made.get(at, [])
        writes = any(answer.steps[number].writes >= 0 for number in steps)
        is_last = bool(steps) and steps[-1] not in read and not writes and at not in calls
        idle = is_last if statement.acts else not writes and at not in calls
        found[statement.line] = found.get(statement.line, True) and idle
    return tuple(line for line, idle in found.items() if idle)


def _callers(answer: Trace, at: int) -> set[int]:
    """Return the number of a statement that ran, and those of the ones that called for it."""
    found = set[int]()
    while at >= 0 and at not in found:
        found.add(at)
        at = answer.passed[at].caller
    return found


def with_written(region: Region, answer: Trace, statements: Statements) -> Region:
    """Add what was put into the names and attributes that are read, behind the last one that is known to be right."""
    if not region.lines:
        return region
    flow, ran = flow_of(statements.source), {one.line for one in answer.passed}
    begin, end = region.right.line if region.right is not None else 0, max(region.lines)
    read = {name for line in region.lines for name in flow.at(line).reads}
    made = {name for line in region.lines for name in flow.at(line).stores}
    lines = statements.written(read, begin, end) if begin else statements.written(made, end, max(ran, default=0) + 1)
    lines += [at for name in flow.at(end).attributes for at, _text in statements.given(name, end) if begin < at < end]
    lines = [line for line in lines if line in ran][:FEW]
    return replace(region, lines=tuple(dict.fromkeys((*lines, *region.lines))))
