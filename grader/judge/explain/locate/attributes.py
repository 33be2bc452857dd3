"""Where an attribute comes from that is not as it should be, or that a method has left as it was."""

from __future__ import annotations

from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.places import asked_for, located
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _


def attribute(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the line that makes an attribute which was read and is not as it should be."""
    owner, name = asked_for(case, exchange)
    asked = [name, *(str(arg) for arg in exchange.trees["args"] if type(arg) is str)]  # get_buffer("scale")
    name, line = next(((one, line) for one in asked if (line := statements.attribute(owner, one))), ("", 0))
    assert case.check is not None
    theirs, mine = flow_of(case.check.grading.reference_text), flow_of(statements.source)
    raised = case.failure is not None and case.failure.group == "error"  # which is the title then
    title = "" if raised else _("an attribute is not as in the task")
    if not line and (begin := statements.function(owner, asked[0].partition(".")[0])) and _is_of_another_kind(exchange):
        lines = tuple(dict.fromkeys((begin, *(at for at in statements.returns(begin) if mine.is_own(at, theirs)))))
        return located(case, lines, _("It is made in {where}."), title=title)
    if line and (found := _left_as_it_was(case, exchange, statements, name, title)) is not None:
        return found
    others = [at for at, _text in statements.given(name, line) if mine.is_own(at, theirs)] if line else []
    lines = tuple(others) if 0 < len(others) <= FEW else (line,) if line else ()
    return located(case, lines, _("It is made in {where}."), title=title)


def _left_as_it_was(
    case: CaseOutcome, exchange: Exchange, statements: Statements, name: str, title: str
) -> Located | None:
    """Find the method that was called since an attribute was right, where it gives it no value and should."""
    assert case.check is not None
    every = case.check.exchanges[: case.check.exchanges.index(exchange)]
    own = [e for e in every if e.header["handle"] == exchange.header["handle"] and e.header["op"] == "call"]
    read = [at for at, e in enumerate(own) if e.header["method"] == exchange.header["method"]]
    since = own[read[-1] + 1 :] if read else []
    methods = {e.header["method"] for e in since}
    is_plain = isinstance(exchange.value, (bool, int, float, str))
    if len(methods) != 1 or not is_plain or exchange.value != own[read[-1]].value or exchange.value == exchange.want:
        return None
    method = methods.pop() or "forward"
    begin = statements.function(asked_for(case, exchange)[0], method)
    inside = statements.body(begin)
    if not inside or any(at in inside for at, _text in statements.given(name, begin)):
        return None
    lines = tuple(inside) if len(inside) <= FEW else (begin,)
    sentence = _("`{method}` leaves `{name}` as it was: {where}.")
    return located(case, lines, sentence, title=title, method=method, name=name)


def _is_of_another_kind(exchange: Exchange) -> bool:
    """Whether what was read is no such thing as it should be: a method, a tensor in place of a number."""
    if exchange.reply["kind"] != "value":
        return True
    return exchange.want is not None and type(exchange.value) is not type(exchange.want)
