"""What lets pass what should be refused: a check that asks for something else, or a function that lacks one."""

from __future__ import annotations

from dataclasses import replace

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.flow import Flow, Statement, flow_of
from grader.judge.explain.locate.places import asked_for, handed_back, located
from grader.judge.explain.locate.statements import Statements, statements_of
from grader.judge.explain.locate.traces import of_answer
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _


def unchecked(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find what asks whether the arguments are right, and lets them pass; or the function that should have raised."""
    assert case.check is not None
    lines, sentence, name, uses = _guards(case, exchange, statements, _("`{name}` accepts it: {where}."))
    model, mine = flow_of(case.check.grading.reference_text), flow_of(statements.source)
    ends = [at for at in _ends(case.check, exchange, statements) if _is_way_out(mine, at) or mine.is_own(at, model)]
    lines = tuple(dict.fromkeys((*lines, *ends, *uses)))[: max(FEW, len(lines))]
    return located(case, lines, sentence, title=_("what should be refused is accepted"), name=name)


def refused_late(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find what lets the arguments pass that should be refused, where something else fails of them later.

    Or what refuses them otherwise than the task does.
    """
    assert case.failure is not None
    flow = flow_of(statements.source)
    statement = flow.at(case.failure.line) if case.failure.line else None
    if statement is not None and statement.text.startswith(("Assert(", "Raise(")):
        sentence = _("It is refused in {where}, with another exception than in the task.")
        return located(case, (statement.line, *statement.heads[-1:]), sentence)
    late = _("`{name}` does not refuse it: {where}. It fails later.")
    lines, sentence, name, _uses = _guards(case, exchange, statements, late)
    found = located(case, lines, sentence, name=name)
    return replace(found, lines=tuple(dict.fromkeys((*lines, case.failure.line)))) if found is not None else None


def refused(case: CaseOutcome, statements: Statements) -> Located | None:
    """Find the answer's own check that refuses what the task allows, and what makes the numbers that it asks about."""
    assert case.check is not None
    assert case.failure is not None
    lines = asked(flow_of(statements.source), flow_of(case.check.grading.reference_text), case.failure.line)
    return located(case, lines, _("What the task allows is refused: {where}."))


def asked(mine: Flow, model: Flow, line: int) -> tuple[int, ...]:
    """Return the check on which the statement of a line raises, and what makes the numbers that it asks about."""
    raised = mine.at(line)
    if not raised.text.startswith(("Assert(", "Raise(")):
        return ()
    head = mine.at(raised.heads[-1] if raised.text.startswith("Raise(") and raised.heads else raised.line)
    begin = mine.begin_of(head.line)
    before = [one for one in reversed(mine.every()) if begin < one.line < head.line and not one.is_plain]
    made = [one for one in before if not one.stores.isdisjoint(head.reads)]
    lines = tuple(one.line for one in (head, *made) if mine.is_own(one.line, model))[:FEW]
    return lines or (head.line,)


def _ends(check: Check, exchange: Exchange, statements: Statements) -> list[int]:
    """Return where something came back of what should have been refused, from the inside out."""
    trace = of_answer(check, exchange) if exchange.header["op"] == "call" else None
    return handed_back(trace, statements) if trace is not None and not trace.raised else []


def _is_way_out(flow: Flow, line: int) -> bool:
    """Whether there is more than one way out of a function, and a statement is the end of one."""
    statement = flow.at(line)
    return bool(statement.heads) or any(flow.at(at).returns for at in statement.left)


def _guards(
    case: CaseOutcome, exchange: Exchange, statements: Statements, unguarded: str
) -> tuple[tuple[int, ...], str, str, list[int]]:
    """Return the checks that let something pass, or the function that lacks one; a sentence for it, and its name.

    ``unguarded``: the sentence for a function without a check. A check that stands in the reference word for word is
    none of them. Last comes where what a missing one asks about is used first.
    """
    assert case.check is not None
    owner, name = asked_for(case, exchange)
    name = name if statements.function(owner, name) else "__init__"  # a scene makes the object first
    line, model = statements.function(owner, name), statements_of(case.check.grading.reference_text)
    mine, theirs = flow_of(statements.source), flow_of(model.source)
    wanted = {theirs.at(at).text for at in model.guards(model.function(owner, name))}
    guards = statements.guards(line)
    other = [at for at in guards if mine.at(at).text not in wanted]
    missing = wanted - {mine.at(at).text for at in guards}
    lacks = len(other) < len(missing)
    before = _changed_before(other or guards, line, mine, theirs)
    arguments = set(statements.arguments(owner, name))
    uses = (
        _first_uses([s for s in theirs.every() if s.text in missing], arguments, line, mine) if lacks and line else []
    )
    if guards and len(other) <= FEW and not (lacks and not other):
        begins = (line,) if lacks and line else ()
        every = dict.fromkeys((*before[: FEW - 1], *(other or guards), *begins))
        return tuple(every), _("What should be refused passes {where}."), name or owner, uses
    return (line,) if line else (), unguarded, name or owner, uses


def _first_uses(missing: list[Statement], arguments: set[str], begin: int, mine: Flow) -> list[int]:
    """Return the statements of a function that are the first to read all that a missing check asks about."""
    found = list[int]()
    for asked in (one.reads & arguments for one in missing):
        uses = (s.line for s in mine.every() if s.line > begin and asked and asked <= s.reads and not s.begins)
        found += [at for at in [next(uses, 0)] if at]
    return found


def _changed_before(guards: list[int], begin: int, mine: Flow, theirs: Flow) -> list[int]:
    """Return the statements of a function that change what checks ask about before they do, other than the reference's.

    Those come first that give one of its names another value.
    """
    asked = {name for at in guards for name in mine.at(at).reads}
    found: list[int] = []
    for at in range(max(guards, default=0) - 1, begin, -1):
        statement = mine.at(at)
        if statement.line == at and not asked.isdisjoint(statement.stores) and mine.is_own(at, theirs):
            found.insert(0, at)
            asked |= statement.reads
    return sorted(found, key=lambda at: mine.at(at).stores.isdisjoint(mine.at(at).reads))
