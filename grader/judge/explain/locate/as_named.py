"""Where a named mistake stands in an answer: what it makes first that the reference makes with the mistake in it alone.

The mistake does all that the answer did, so both make the same wrong numbers, and somewhere the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from grader.judge.cases.check import Check
from grader.judge.explain.locate.choice import wrong_call
from grader.judge.explain.locate.find import DIGITS, FEW_DIGITS, with_around
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.match import many, plain
from grader.judge.explain.locate.region import Alignment
from grader.judge.explain.locate.sharing import shared
from grader.judge.explain.locate.slices import ENOUGH, Place, Slices, Told, Written, bits_of
from grader.judge.explain.locate.statements import statements_of
from grader.judge.explain.locate.traces import Step, Trace, of_answer, of_reference
from grader.judge.explain.locate.words import Located, told
from grader.judge.explain.locate.wrong import is_cut_short, slack_of
from grader.judge.explain.mistakes import Mistake, all_applied
from grader.judge.runs.outcome import CaseOutcome
from grader.probes.lines import RESULT, UNKNOWN
from grader.probes.steps import FROM_DATA

MOST_CASES: Final = 3
"""So many failing cases are looked at together where few numbers tell little."""
GROUPS: Final = ("value", "structure")


@dataclass(frozen=True, slots=True)
class _Call:
    """A failing call three times: as the reference makes it, as the reference with the mistake does, as the answer."""

    case: CaseOutcome
    check: Check
    right: Trace
    wrong: Trace
    texts: tuple[str, str]
    """Of the reference without and with the mistake."""
    answer: Trace


def locate_named(cases: Sequence[CaseOutcome], source: str, mistake: Mistake) -> Located | None:
    """Return where an answer makes a named mistake, and no other one; None where these failing cases do not tell."""
    exchange = wrong_call(cases[0]) if cases else None
    if exchange is not None and (sharing := shared(cases[0], exchange, source)) is not None:
        return sharing
    if exchange is not None and is_cut_short(exchange.value, exchange.want):
        return None  # it is when to stop that is wrong, and numbers do not tell that
    first = _call(cases[0], mistake) if cases else None
    if first is None:
        return None
    found = _by_steps(first, source)
    if found is not None or any(step.line for step in first.answer.steps if _is_many(step)):
        return found
    others = (_call(case, mistake) for case in cases[1:MOST_CASES])
    return _by_names([first, *(one for one in others if one is not None)], source)


def _is_many(step: Step) -> bool:
    """Whether a step has so many numbers that they are no other ones by chance."""
    return step.value is not None and step.value.is_floating_point() and many(plain(step.value))


def _call(case: CaseOutcome, mistake: Mistake) -> _Call | None:
    check, exchange, failure = case.check, wrong_call(case), case.failure
    if check is None or exchange is None or failure is None or failure.group not in GROUPS:
        return None
    own = check.grading.reference.text
    text = next(all_applied((mistake,), own), None)
    right = of_reference(check, exchange) if text is not None else None
    if text is None or right is None:
        return None
    with check.beside(text):
        wrong = of_reference(check, exchange)
    answer = of_answer(check, exchange) if wrong is not None else None
    if wrong is None or answer is None or answer.raised:
        return None
    return _Call(case, check, right, wrong, (own, text), answer)


def _by_steps(call: _Call, source: str) -> Located | None:
    """Find the first steps of the answer that are those of the mistaken reference alone, and what they were made of."""
    slack = slack_of(call.check)
    right, wrong = Alignment(call.right, call.answer, slack), Alignment(call.wrong, call.answer, slack)
    both = Alignment(call.right, call.wrong, slack)
    its = {
        number: other
        for number, (_kind, other) in sorted(wrong.anchors.items())
        if call.answer.steps[number].line and number not in right.anchors and _is_many(call.answer.steps[number])
        if other not in both.anchors and not call.wrong.steps[other].is_source
    }
    first = [n for n in its if not any(call.answer.behind(read, its)[1] for read in _read_anew(call.answer, n))]
    if any(call.answer.steps[number].operation == FROM_DATA for number in first):  # it was made of Python's numbers
        return None
    name = call.wrong.steps[its[first[0]]].name if first else ""
    goal = max((n for n, step in enumerate(call.right.steps) if name and step.name == name), default=None)
    region = right.region_of(first, name, goal) if first else None
    if region is None:
        return None
    statements = statements_of(source)
    region = replace(region, lines=_where_it_lacks(region.lines, [call.answer.steps[n].line for n in first]))
    place = with_around(call.case, (right, call.right, call.answer), region, statements)
    return replace(place, shows=statements.of(call.answer.steps[first[0]].line)) if place is not None else None


def _where_it_lacks(lines: tuple[int, ...], wrong: Sequence[int]) -> tuple[int, ...]:
    """Put right lines behind which something lacks before the one that goes wrong for it, where that is only one."""
    before = tuple(line for line in lines if line not in wrong)
    return (*before, *wrong[:1]) if len(lines) - len(before) == 1 and lines[0] in wrong else lines


def _read_anew(trace: Trace, number: int) -> list[int]:
    """Return what a step was made of, other than what it writes into and who wrote there before."""
    step = trace.steps[number]
    return [read for read in step.reads if step.writes < 0 or (read != step.writes and trace.steps[read].writes < 0)]


def _by_names(calls: Sequence[_Call], source: str) -> Located | None:
    """Find the first name of the answer that stands for what one of the mistaken reference alone does, in each call."""
    common: dict[Place, float] = {}
    found: list[Located] = []
    every = [(call, *_told(call, source)) for call in calls]
    for at, (_one, right, wrong, mine) in enumerate(every):
        _known, new = _known_and_new(right, wrong)
        its = {
            place: sum(map(bits_of, set(written)))
            for place in mine.series
            if place[1] != RESULT and (written := mine.written(place)) in new and not any(UNKNOWN in w for w in written)
        }
        common = its if at == 0 else {place: common[place] + bits for place, bits in its.items() if place in common}
    sure = {place for place, bits in common.items() if bits >= ENOUGH}
    if not sure:
        return None
    for call, right, wrong, mine in every:
        known, new = _known_and_new(right, wrong)
        before = {history for history, _bits in right.history.values()}
        first = min((v for place in sure for v in mine.series[place] if mine.history[v][0] not in before), default=None)
        region = Slices(right, mine, {}).region_of(first, known, new) if first is not None else None
        place = told(call.case, region, statements_of(source))
        found += [place] if place is not None else []
    return min(found, key=lambda place: len(place.lines), default=None)


def _known_and_new(right: Told, wrong: Told) -> tuple[set[Written], set[Written]]:
    """Return what the reference makes in its places, time after time, and what it makes with the mistake alone."""
    known = {right.written(place) for place in right.series}
    return known, {wrong.written(place) for place in wrong.series if place[1] != RESULT} - known


def _told(call: _Call, source: str) -> tuple[Told, Told, Told]:
    """Return what ran in the reference, in the mistaken one and in the answer."""
    slack = slack_of(call.check)
    digits = DIGITS.get(call.check.variant.dtype, FEW_DIGITS)
    mine, other = Alignment(call.right, call.answer, slack), Alignment(call.right, call.wrong, slack)
    return (
        Told(call.right, flow_of(call.texts[0]), mine.name_of_theirs, digits),
        Told(call.wrong, flow_of(call.texts[1]), other.name_of_mine, digits),
        Told(call.answer, flow_of(source), mine.name_of_mine, digits),
    )
