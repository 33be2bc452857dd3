"""What a place is made of: lines, a sentence for them, and what was asked for."""

from __future__ import annotations

from collections.abc import Iterable

from grader.judge.exchange.results import Exchange, built_as
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import Step, Trace
from grader.judge.explain.locate.words import Located, listed
from grader.judge.runs.outcome import CaseOutcome
from grader.probes.lines import RESULT


def located(
    case: CaseOutcome, lines: tuple[int, ...], sentence: str, *, title: str = "", **words: str
) -> Located | None:
    """Say of some lines what a sentence has for them; None where there are none."""
    return Located(case, lines, sentence.format(where=listed(lines), **words), title) if lines else None


def lines_of(steps: Iterable[Step], statements: Statements) -> tuple[int, ...]:
    """Return the lines of the statements that made some steps."""
    return tuple(dict.fromkeys(statements.of(step.line) for step in steps if step.line))


def asked_for(case: CaseOutcome, exchange: Exchange) -> tuple[str, str]:
    """Return the class or function that was called, and the method of it."""
    assert case.check is not None
    header = exchange.header
    if header["op"] != "call" or header["handle"] is None:
        return header["entry"], "__init__" if header["op"] == "build" else ""
    return built_as(case.check.exchanges, header["handle"]), header["method"] or "forward"


def makers(readers: Iterable[int], statements: Statements, model: str) -> tuple[int, ...]:
    """Return the lines at which attributes that some lines read are made, and what these read gets another value.

    Only those that are other than the reference's.
    """
    flow, theirs = flow_of(statements.source), flow_of(model)
    names = {(name, line) for line in readers for name in flow.at(line).attributes}
    made = [at for name, line in sorted(names) for at, _text in statements.given(name, line)]
    fed = [at for line in made for at in sizes_of(line, statements, model)]
    return tuple(dict.fromkeys((*(at for at in made if flow.is_own(at, theirs)), *fed)))


def handed_back(trace: Trace, statements: Statements) -> list[int]:
    """Return the lines at which the result of a call was made, if functions of the file handed it on, then returned."""
    ends = [n for n, one in enumerate(trace.passed) if one.caller < 0 and RESULT in one.made]
    found, left = list[int](), ends[-1:]
    while left:
        number = left.pop()
        one = trace.passed[number]
        found.insert(0, statements.of(one.line))
        left = [
            n
            for n, other in enumerate(trace.passed)
            if other.caller == number and RESULT in other.made and other.made[RESULT] == one.made[RESULT]
        ][-1:]
    return found


def sizes_of(line: int, statements: Statements, model: str) -> list[int]:
    """Return the statements of its function that gave what a line reads another value, other than the reference's."""
    flow, theirs = flow_of(statements.source), flow_of(model)
    asked, found = set(flow.at(line).reads), list[int]()
    for at in range(line - 1, 0, -1):
        statement = flow.at(at)
        if statement.begins:
            break
        if statement.line == at and statement.stores & asked:
            asked |= statement.reads
            found += [at] if flow.is_own(at, theirs) else []
    return found
