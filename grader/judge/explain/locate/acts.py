"""Statements that do nothing but act: `optimizer.step()`. Which are to blame, and whether they come in order."""

from __future__ import annotations

from grader.judge.explain.locate.flow import Flow
from grader.judge.explain.locate.statements import FILLS
from grader.judge.explain.locate.traces import Trace


def acted(answer: Trace, flow: Flow, model: Flow, begin: int, end: int) -> list[int]:
    """Return the statements between two lines that do something to what is there, and what says how or whether.

    Only where the last line does so itself, other than to a list.
    """
    acts = flow.at(end).acts
    if not acts or acts in FILLS:
        return []
    ran = [flow.at(line) for line in sorted({one.line for one in answer.passed}) if begin < line < end]
    read = {name for one in ran if one.acts for name in one.reads}
    every = [one for one in ran if one.acts or one.is_asked or not one.stores.isdisjoint(read)]
    return [one.line for one in every if flow.is_own(one.line, model)]


def out_of_order(answer: Trace, flow: Flow, reference: Trace, model: Flow) -> list[int]:
    """Return what is done in another order than the reference does it, where both do it."""
    mine, others = _acts(answer, flow), _acts(reference, model)
    common = {name for name, _line in mine} & {name for name, _line in others}
    own, theirs = ([one for one in acts if one[0] in common] for acts in (mine, others))
    if sorted(name for name, _line in own) != sorted(name for name, _line in theirs):
        return []
    apart = next((at for at, (one, two) in enumerate(zip(own, theirs, strict=True)) if one[0] != two[0]), None)
    if apart is None:
        return []
    return [next((line for name, line in own[apart:] if name == theirs[apart][0]), own[apart][1]), own[apart][1]]


def _acts(trace: Trace, flow: Flow) -> list[tuple[str, int]]:
    """Return what statements call that do nothing else, in the order in which they ran, and their lines."""
    statements = (flow.at(one.line) for one in trace.passed)
    return [(statement.acts, statement.line) for statement in statements if statement.acts]
