"""Who writes into what a call was given, and who made the view that is written into."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from grader.judge.exchange.arguments import handed_back
from grader.judge.exchange.results import Exchange, Result
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.places import handed_back as returning
from grader.judge.explain.locate.places import lines_of, located
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import Step, Trace, of_answer
from grader.judge.explain.locate.words import FEW, Located, listed
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.probes.steps import FROM_DATA
from grader.transport.wire import tensors_in

ANOTHER_NAME: Final = re.compile(r"Assign\(targets=\[Name\(id='\w+', ctx=Store\(\)\)\], value=Name\(")
"""What gives something another name, in the text of a statement."""


def modified(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the lines that write into what the call was given."""
    assert case.check is not None
    trace = of_answer(case.check, exchange)
    if trace is None:
        return None
    writing = [step for step in trace.steps if step.line and step.writes >= 0 and step.operation != FROM_DATA]
    ways = [(step, way) for step in writing if (way := _way_to_given(trace, step.writes)) is not None]
    writes = [step for step, _way in ways]
    if place := _of_a_view(case, exchange, statements, [given for _step, (given, _views) in ways]):
        return place
    filled = [] if writes else [line for line in statements.fills() if any(one.line == line for one in trace.passed)]
    lines = lines_of(writes, statements) or tuple(filled)
    model, mine = flow_of(case.check.grading.reference_text), flow_of(statements.source)
    through = (line for _step, (_given, views) in ways for line in views)
    made = dict.fromkeys(statements.of(line) for line in through if mine.is_own(line, model))
    read = {name for line in lines for name in mine.at(line).reads}
    renamed = [one.line for one in mine.every() if ANOTHER_NAME.match(one.text) and not one.stores.isdisjoint(read)]
    made |= dict.fromkeys(line for line in renamed if line < max(lines, default=0) and mine.is_own(line, model))
    views = [line for line in made if line not in lines][: max(0, FEW - len(lines))]
    told = {"views": listed(views), "written": listed(lines)} if views else {}
    sentence = (
        _("What was handed in is written into: {written}. It has another name there, or is a view: {views}.")
        if views
        else _("What was handed in is written into: {where}.")
    )
    return located(case, (*lines, *views), sentence, title=_("an argument is changed in place"), **told)


def _of_a_view(
    case: CaseOutcome, exchange: Exchange, statements: Statements, targets: Iterable[Step]
) -> Located | None:
    """Find where an earlier call returned what is written into now by another name: a view of what is kept.

    ``targets``: what is written into; where it is what came back, it is an argument like any other.
    """
    assert case.check is not None
    back = handed_back(exchange.trees["args"], exchange.trees["kwargs"], exchange.header["names"])
    changed = exchange.reply.get("modified")
    given = (*exchange.trees["args"], *exchange.trees["kwargs"].values())
    keys = [one.exchange.key for one in given if isinstance(one, Result)]
    earlier = next((one for one in case.check.exchanges if one.key in keys), None)
    if earlier is None or type(changed) is not list or not {str(name) for name in changed} <= back:
        return None
    came_back = {tuple(tensor.shape) for tensor in tensors_in(earlier.want)}
    if any(step.shape in came_back for step in targets):
        return None
    trace = of_answer(case.check, earlier)
    lines = tuple(returning(trace, statements)[-FEW:]) if trace is not None and not trace.raised else ()
    sentence = _("`{name}` returned it, a view of what is kept: {where}. Now that is written into.")
    name = earlier.header["method"] or earlier.header["entry"] or "forward"
    title = _("what was returned changes later")
    return located(case, lines[::-1], sentence, title=title, name=name)


def _way_to_given(trace: Trace, number: int) -> tuple[Step, list[int]] | None:
    """Return what was there before the call and a tensor is a view of, and the lines of the views; None for others."""
    lines = list[int]()
    while not (step := trace.steps[number]).is_source:
        if step.writes < 0 and not (step.is_view and step.reads):
            return None
        lines += [step.line] if step.writes < 0 and step.line else []
        number = step.writes if step.writes >= 0 else step.reads[0]
    return step, lines
