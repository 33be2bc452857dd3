"""What is said of the place where an answer goes wrong in a failing case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate import costs, dropped, guards, kinds, meeting, written
from grader.judge.explain.locate.acts import acted, out_of_order
from grader.judge.explain.locate.around import Around
from grader.judge.explain.locate.attributes import attribute
from grader.judge.explain.locate.choice import LONGEST_TOLD, OF_NUMBERS, wrong_call
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.match import RELATIVE
from grader.judge.explain.locate.partners import first_wrong, partners
from grader.judge.explain.locate.region import Alignment, Region
from grader.judge.explain.locate.sharing import shared
from grader.judge.explain.locate.slices import Place, Slices, Told, alike_places, bits_of
from grader.judge.explain.locate.statements import Statements, statements_of
from grader.judge.explain.locate.traces import Trace, calls_before, of_answer, of_reference
from grader.judge.explain.locate.trim import unused, with_written, without_idle, without_reserved
from grader.judge.explain.locate.uses import foreign
from grader.judge.explain.locate.words import FEW, Located, told, with_unused
from grader.judge.explain.locate.wrong import EXACT, WrongResult, errors, is_cut_short, slack_beside, wrong_results
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.transport.wire import Tree, dtype_name, tensors_in

MOST_CALLS: Final = 4
"""So many calls of a case are looked at in which something else may be wrong than its numbers."""
MOST_RESULTS: Final = 4
"""So many wrong results of a call are looked at: later ones may go wrong for the first."""
DIGITS: Final = {torch.float64: 9, torch.float32: 5}
FEW_DIGITS: Final = 2
MOST_PASSING: Final = 60
"""So many passing cases are looked through for one that tells much."""
FAINT: Final = 1e-5

Traces = tuple[Alignment, Trace, Trace]
"""How the steps of a call correspond, the reference's, the answer's."""


def locate(
    case: CaseOutcome, source: str, passing: Sequence[CaseOutcome] = (), *, by_numbers: bool = False
) -> Located | None:
    """Return where a failing case goes wrong; None where that cannot be told for certain.

    ``passing``: cases that pass, beside which it may be seen. ``by_numbers``: it is looked for by the numbers of the
    steps, whatever it failed by.
    """
    exchange = wrong_call(case)
    if exchange is None or case.failure is None:
        return None
    group, statements = "value" if by_numbers else case.failure.group, statements_of(source)
    expected = group == "error" and case.check is not None and case.check.expected_an_error
    if expected and case.check is not None and of_reference(case.check, exchange) is None:
        return guards.refused_late(case, exchange, statements)
    if group == "error" and not case.failure.line:
        return kinds.called(case, exchange, statements)
    if group == "error" and ((found := meeting.where_made(case, exchange, statements)) or case.variant.device != "cpu"):
        return found
    if group in OF_NUMBERS:
        return _of_numbers(case, exchange, statements, passing)
    if group == "fact":
        return _by_fact(case, exchange, statements, passing)
    if group == "structure":
        plain = type(exchange.value) is type(exchange.want) and not any(True for _one in tensors_in(exchange.want))
        found = _by_numbers(case, exchange, statements, passing) if plain else None
        if plain and _is_formed_alike(exchange.value, exchange.want):
            return found
        found = (found if found is None or found.is_place else None) or kinds.structure(case, exchange, statements)
        return found or attribute(case, exchange, statements)
    look = _LOOKS.get(group)
    return look(case, exchange, statements) if look is not None else None


def _of_numbers(
    case: CaseOutcome, exchange: Exchange, statements: Statements, passing: Sequence[CaseOutcome]
) -> Located | None:
    """Find where numbers go wrong, digits are lost, something is raised, or an attribute comes from."""
    assert case.failure is not None
    if _is_faint(case, exchange) and (found := kinds.precision(case, exchange, statements)) is not None:
        return found
    found = _by_numbers(case, exchange, statements, passing) or kinds.precision(case, exchange, statements)
    if case.failure.line:  # it is raised there
        return found or guards.refused(case, statements)
    return found or attribute(case, exchange, statements)


def _is_formed_alike(mine: Tree, theirs: Tree) -> bool:
    """Whether two results are of the same kinds, though lists may be longer or shorter: tokens, say."""
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, tuple) and isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(map(_is_formed_alike, mine, theirs))
    return True


def _by_numbers(
    case: CaseOutcome, exchange: Exchange, statements: Statements, passing: Sequence[CaseOutcome]
) -> Located | None:
    check = case.check
    assert check is not None
    assert case.failure is not None
    if (sharing := shared(case, exchange, statements.source)) is not None:
        return sharing
    failed = case.failure.kind == "error"
    before = None if failed else _before(check, exchange)
    exchange, reference = before or (exchange, of_reference(check, exchange))
    watched = {"grad": True} if failed and exchange.header.get("grad") else {}  # it may raise there alone
    answer = of_answer(check, exchange, watched) if reference is not None else None
    if reference is None or answer is None or answer.raised != failed:
        return None
    wrong = wrong_results(exchange.value, reference.result if before else exchange.want, exchange)
    slack = slack_beside(wrong, check.variant.dtype)
    alignment = Alignment(reference, answer, slack)
    traces = alignment, reference, answer
    if not answer.raised and (region := _of_results(alignment, wrong)) is not None:
        if len({statements.of(line) for line in region.lines}) > FEW and passing:
            known = partners(passing, exchange)
            alignment.should_be = lambda steps: first_wrong(known, answer, reference, steps, slack)
            region = _of_results(alignment, wrong) or region
        return with_around(case, traces, region, statements)
    if not failed and not any(step.line for step in answer.steps):
        earlier = _of_calls_before(case, exchange, wrong, statements)
        if earlier is not None:
            return earlier
    by_names = _of_statements(check, exchange, traces, statements, passing)
    if by_names is None and answer.raised and (region := alignment.raised(case.failure.line)) is not None:
        return with_around(case, traces, region, statements)
    if by_names is not None and answer.raised and (line := case.failure.line):
        # where it is raised first, whoever made what is read there
        lines = tuple(dict.fromkeys((line, *by_names.lines)))
        by_names = replace(by_names, lines=lines[: max(FEW, len(by_names.lines))])
    return _told_by_names(case, by_names, answer, statements) if by_names is not None else None


def _told_by_names(case: CaseOutcome, region: Region, answer: Trace, statements: Statements) -> Located | None:
    """Say what a region tells that was found by what names stand for."""
    assert case.check is not None
    region = with_written(region, answer, statements)
    idle = unused(answer, statements, case.check.grading.reference_text)
    found = told(case, replace(region, lines=tuple(dict.fromkeys((*idle, *region.lines)))), statements)
    if found is None:
        return None
    return replace(with_unused(found, idle), looked_through=len(answer.steps) + len(answer.passed))


def _of_results(alignment: Alignment, wrong: Sequence[WrongResult]) -> Region | None:
    """Return the smallest place where one of the first wrong results goes wrong, by the numbers of the steps."""
    regions = [alignment.region(*leaf) for leaf in wrong[:MOST_RESULTS]]
    return _smallest([region for region in regions if region is not None and region.lines])


def _of_calls_before(
    case: CaseOutcome, exchange: Exchange, wrong: list[WrongResult], statements: Statements
) -> Located | None:
    """Find where a call goes wrong that left what is read here."""
    check = case.check
    assert check is not None
    for call in calls_before(check, exchange):
        reference, answer = of_reference(check, call), of_answer(check, call)
        if reference is None or answer is None or answer.raised:
            continue
        alignment = Alignment(reference, answer, slack_beside(wrong, check.variant.dtype))
        region = _of_results(alignment, wrong)
        if region is not None:
            return with_around(case, (alignment, reference, answer), region, statements)
    return None


def with_around(case: CaseOutcome, traces: Traces, region: Region, statements: Statements) -> Located | None:
    """Say what a region tells, with what else may be to blame around it."""
    assert case.check is not None
    alignment, reference, answer = traces
    is_new = not any(e.trees.get("state") for e in case.check.exchanges if e.header["op"] == "build")
    is_new = is_new or region.is_open  # what goes in there was not loaded, or is not the reference's
    around = Around(answer, statements, reference, case.check.grading.reference_text, alignment.anchors, is_new=is_new)
    if region.raised:  # by a statement of its own: it is the condition that is to blame, or what it asks about
        asked = guards.asked(flow_of(statements.source), flow_of(case.check.grading.reference_text), region.lines[0])
        if asked and len(region.lines) == 1:
            return guards.refused(case, statements)
        region = replace(region, lines=(*asked, *region.lines[1:]) if asked else region.lines)
    region = without_reserved(without_idle(region, answer, statements, case.check.grading.reference_text), answer)
    if not region.lines:
        return None
    model, flow = flow_of(case.check.grading.reference_text), flow_of(statements.source)
    if region.right is not None:
        done = acted(answer, flow, model, region.right.line, max(region.lines))
        region = replace(region, lines=tuple(dict.fromkeys((*done[:FEW], *region.lines))))
    around.also(out_of_order(answer, flow, reference, model))
    around.strangers(region.steps, region.strangers)
    # what the reference has word for word is right by itself, and takes no room
    own = {statements.of(line) for line in region.lines if flow.is_own(line, model)}
    every = around.lines(region.steps)
    if region.raised and len(region.lines) < FEW:
        fed = (line for line in around.fed(region.lines[0]) if line not in region.lines)
        region = replace(region, lines=(*region.lines, *fed)[:FEW])
    most = FEW - (0 if region.is_open else len(own))
    lines = around.lines(region.steps, most, onward=not region.is_open, is_factor=bool(region.times))
    calls = {one.frame for one in answer.passed if one.caller < 0}
    if len(calls) > 1:  # the first may have left something in what came
        ran = {one.line for one in answer.passed}
        lines = (*lines, *(line for line in statements.fills() if line in ran))
    strange = [answer.steps[n].line for n in foreign(answer, region.steps, reference)]
    first = [line for line in strange if line in region.lines and not region.raised][:1]
    idle = unused(answer, statements, case.check.grading.reference_text)
    if region.raised and case.failure is not None:
        first = [line for line in (*idle, *region.lines) if line == case.failure.line]
        region = replace(region, lines=tuple(dict.fromkeys((*first, *idle, *region.lines))))
    else:
        region = replace(region, lines=tuple(dict.fromkeys((*idle, *first, *region.lines))))
    found = told(case, region, statements, lines)
    if found is None:
        return None
    left_out = tuple(line for line in every if line not in lines)
    return replace(with_unused(found, idle), left_out=left_out, looked_through=len(answer.steps))


def _before(check: Check, exchange: Exchange) -> tuple[Exchange, Trace] | None:
    """Return the first call before this one that is wrong already, though nobody compared it; and the reference's."""
    at = check.exchanges.index(exchange)
    earlier = [e for e in check.exchanges[:at] if e.header["op"] == "call" and e.settled and e.want is None]
    slack = RELATIVE.get(dtype_name(check.variant.dtype), 0.0)
    for other in earlier[-MOST_CALLS:]:
        reference = of_reference(check, other) if any(True for _one in tensors_in(other.value)) else None
        if reference is not None and wrong_results(other.value, reference.result, other, slack):
            return other, reference
    return None


def _is_faint(case: CaseOutcome, exchange: Exchange) -> bool:
    """Whether numbers of float64 are wrong by so little that a shorter dtype has been in between."""
    if case.variant.dtype != torch.float64 or exchange.want is None:
        return False
    return 0.0 < max(errors(wrong_results(exchange.value, exchange.want, exchange)), default=0.0) < FAINT


def _by_fact(
    case: CaseOutcome, exchange: Exchange, statements: Statements, passing: Sequence[CaseOutcome]
) -> Located | None:
    """Find where a call goes other ways than the reference's, whether or not the case compares its numbers."""
    check = case.check
    assert check is not None
    exact = EXACT * torch.finfo(check.variant.dtype).eps
    calls = [other for other in failed_after(case) if other.header["op"] == "call"]
    for call in calls[: -MOST_CALLS - 1 : -1]:
        reference = of_reference(check, call)
        answer = of_answer(check, call) if reference is not None else None
        if reference is None or answer is None:
            continue
        if dropped.is_drawn(reference):
            return dropped.draws(case, call, (reference, answer), statements)
        wrong = wrong_results(call.value, reference.result, call, exact)
        if not wrong:
            continue
        traces = Alignment(reference, answer, exact), reference, answer
        region = _of_results(traces[0], wrong)
        if region is not None:
            return with_around(case, traces, region, statements)
        found = _of_statements(check, call, traces, statements, passing)
        if found is not None:
            return told(case, found, statements)
    return kinds.precision(case, exchange, statements)


def _of_statements(
    check: Check,
    exchange: Exchange,
    traces: Traces,
    statements: Statements,
    passing: Sequence[CaseOutcome],
) -> Region | None:
    """Find where it goes wrong by what names stand for, where the numbers of the steps do not tell."""
    alignment, reference, answer = traces
    flows = flow_of(check.grading.reference_text), flow_of(statements.source)
    digits = DIGITS.get(check.variant.dtype, FEW_DIGITS)
    together: dict[Place, list[Place]] = {}
    for other, call in _alike(passing, exchange):
        model = of_reference(other, call)
        mine = of_answer(other, call) if model is not None else None
        if model is not None and mine is not None:
            aligned = Alignment(model, mine, RELATIVE.get(dtype_name(other.variant.dtype), 0.0))
            together = alike_places(
                Told(model, flows[0], aligned.name_of_theirs, digits),
                Told(mine, flows[1], aligned.name_of_mine, digits),
            )
    theirs = Told(reference, flows[0], alignment.name_of_theirs, digits)
    slices = Slices(theirs, Told(answer, flows[1], alignment.name_of_mine, digits), together)
    region = slices.region(raised=answer.raised)
    early = slices.ended_early() if not answer.raised and is_cut_short(exchange.value, exchange.want) else []
    if not early or region is None:
        return region
    lines = tuple(line for line in region.lines if line not in early)
    return replace(region, lines=(*early, *lines) if len(early) + len(lines) <= FEW else tuple(early))


def _alike(passing: Sequence[CaseOutcome], exchange: Exchange) -> list[tuple[Check, Exchange]]:
    """Return a call of the same kind that is right, and tells much."""
    found: list[tuple[float, Check, Exchange]] = []
    for case in passing[:MOST_PASSING]:
        check = case.evidence.checked
        calls = [e for e in check.exchanges if e.settled and e.header["op"] == "call"] if check is not None else []
        for call in calls[-1:]:
            told = str(call.value)
            if check is not None and call.header["method"] == exchange.header["method"] and len(told) <= LONGEST_TOLD:
                found.append((sum(map(bits_of, set(told.split()))), check, call))
    return [one[1:] for one in sorted(found, key=lambda one: -one[0])[:1]]


_LOOKS: Final[dict[str, Callable[[CaseOutcome, Exchange, Statements], Located | None]]] = {
    "gradient": kinds.gradient,
    "dtype": kinds.dtype,
    "device": kinds.device,
    "cost": costs.most_of_it,
    "modified": written.modified,
    "parameters": kinds.parameters,
    "no-error": guards.unchecked,
    "missing": attribute,
}


def _smallest(regions: Sequence[Region | None]) -> Region | None:
    """Return the region of the fewest lines."""
    known = [region for region in regions if region is not None]
    return min(known, key=lambda region: (len(region.lines), region.is_open), default=None)
