"""Where an argument that a failing case leaves out has another default than in the task."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.places import asked_for, located
from grader.judge.explain.locate.statements import Statements, statements_of
from grader.judge.explain.locate.words import Located
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.language import _

DROPS: Final = "drop"
"""Stands in the names of arguments that say how much is dropped."""


def drops_by_default(case: CaseOutcome, source: str) -> Located | None:
    """Return where something is dropped unless a caller asks for the contrary, and the task has it the other way."""
    exchange = _last_call(case)
    return other_default(case, exchange, statements_of(source), DROPS) if exchange is not None else None


def other_default(case: CaseOutcome, exchange: Exchange, statements: Statements, name: str) -> Located | None:
    """Return where an argument that is left out has another default than in the task: one with this in its name."""
    check = case.check
    assert check is not None
    theirs = statements_of(check.grading.reference_text)
    owner, method = asked_for(case, exchange)
    builds = [
        e for e in check.exchanges if e.header["op"] == "build" and e.header["handle"] == exchange.header["handle"]
    ]
    made = builds[-1] if builds else exchange
    function = "__init__" if builds else method
    here, wanted = _defaults(statements, owner, function), _defaults(theirs, owner, function)
    names = statements.arguments(owner, function)
    given = {*list(names)[len(names) and names[0] == "self" :][: len(made.trees["args"])], *made.trees["kwargs"]}
    for argument, value in here.items():
        if name in argument and argument not in given and argument in wanted and value != wanted[argument]:
            sentence = _("By default `{name}` is {value}, in the task {expected}: {where}.")
            words = {"name": argument, "value": _written(value), "expected": _written(wanted[argument])}
            title = _("a default is not that of the task")
            place = located(case, (statements.function(owner, function),), sentence, title=title, **words)
            push = _("the signature of the task holds with its defaults: who leaves an argument out counts on them.")
            return replace(place, push=push) if place is not None else None
    return None


def is_left_to_chance(case: CaseOutcome, source: str) -> bool:
    """Whether something is dropped by default in a failing call, in training: nothing else shows there."""
    call = _last_call(case)
    return call is not None and bool(call.header.get("train")) and drops_by_default(case, source) is not None


def _last_call(case: CaseOutcome) -> Exchange | None:
    """Return the call after which a case fails, on whichever device: its steps need not be seen for that."""
    settled = failed_after(case)
    return settled[-1] if settled and settled[-1].header["op"] == "call" else None


def _defaults(statements: Statements, owner: str, name: str) -> dict[str, str]:
    """Return the defaults of a function, or of a method of a class, as they are written."""
    begin = statements.function(owner, name)
    return (
        {argument: value for argument, (at, value) in statements.defaults(begin).items() if at == begin}
        if begin
        else {}
    )


def _written(value: str) -> str:
    """Return a default as it is written in the file; what is no plain number as a whole."""
    found = ast.parse(value, mode="eval").body
    inner = found.args or [keyword.value for keyword in found.keywords] if isinstance(found, ast.Call) else []
    return str(inner[0].value) if inner and isinstance(inner[0], ast.Constant) else value
