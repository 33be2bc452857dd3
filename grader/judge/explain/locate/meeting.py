"""Who made what is on another device, or of another dtype, than what it meets: that does not go."""

from __future__ import annotations

from dataclasses import replace

from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.around import Around
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.kinds import WIDTH, entries
from grader.judge.explain.locate.places import lines_of, located, makers
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import Trace, of_answer
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.transport.wire import dtype_name


def where_made(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the lines that made what is on the CPU, or of another dtype than the inputs, where that does not go."""
    assert case.check is not None
    assert case.failure is not None
    on_device, name = case.variant.device != "cpu", dtype_name(case.check.variant.dtype)
    if not on_device and not any(word in case.failure.message for word in ("dtype", "scalar type")):
        return None
    trace = of_answer(case.check, exchange)
    here = statements.of(case.failure.line)
    ends = _read_at(trace, here, statements) if trace is not None and trace.raised else None
    if trace is None or ends is None:
        return None
    every = trace.steps
    made = {number for end in ends for number in trace.behind(end, ())[0]} if on_device else set(ends)
    other = [n for n in made if (every[n].device == "cpu" if on_device else _is_other(every[n].dtype, name))]
    there = sorted(n for n in other if every[n].shape)
    first = [n for n in there if not any(before in there for before in every[n].reads)]
    given = {n for n in first if every[n].is_source}
    given |= {n for n in there if not every[n].line and given.intersection(every[n].reads)}  # loaded meanwhile
    model = case.check.grading.reference_text
    readers = [every[n].line for n in there if every[n].line and given.intersection(every[n].reads)]
    lines = makers(readers or [here] * bool(given), statements, model)  # what else is there was made after them
    if not lines and not on_device:
        met = [step for end in there for step in entries(trace, end, every[end].dtype, name)]
        lines = lines_of(met, statements)
    elif not lines:
        around = Around(trace, statements, None, model).lines(first)
        lines = tuple(dict.fromkeys((*lines_of((every[n] for n in first), statements), *around)))
        lines = (*lines, *(line for line in _brought(trace, here, made, statements) if line not in lines))
    brought = () if len(lines) >= FEW else (here,)
    sentence = (
        _("It is on the CPU in {where}; in line {line} it meets what is on the device of the inputs.")
        if on_device
        else _("It is not {dtype} in {where}; in line {line} it meets what is.")
    )
    found = located(case, lines, sentence, line=str(here), dtype=name)
    return replace(found, lines=tuple(dict.fromkeys((*lines, *brought)))) if found is not None else None


def _brought(trace: Trace, here: int, made: set[int], statements: Statements) -> list[int]:
    """Return the lines at which a function that fails in a line got such tensors from another one of the file."""
    frame = next((one.frame for one in reversed(trace.passed) if statements.of(one.line) == here), 0)
    own = [one for one in trace.passed if one.frame == frame and one.line]
    steps = {f"#{n}": trace.steps[n].at for n in made if trace.steps[n].device == "cpu" and trace.steps[n].shape}
    return [
        statements.of(one.line)
        for one in own
        for text in one.made.values()
        if text in steps and 0 <= steps[text] < len(trace.passed) and trace.passed[steps[text]].frame != frame
    ]


def _read_at(trace: Trace, here: int, statements: Statements) -> list[int] | None:
    """Return what a statement had at hand when it failed: what it had made, and what its names stood for.

    None where it did not run: the call went other ways when it was looked at.
    """
    at = max((n for n, one in enumerate(trace.passed) if statements.of(one.line) == here), default=-1)
    if at < 0:
        return None
    read = {number for step in trace.steps for number in step.reads}
    frame = trace.passed[at].frame
    bound = {name: text for one in trace.passed[:at] if one.frame == frame for name, text in one.made.items()}
    told = [bound.get(name, "")[1:] for name in flow_of(statements.source).at(here).reads]
    named = [int(text) for text in told if text.isdigit() and int(text) < len(trace.steps)]
    return [n for n, step in enumerate(trace.steps) if step.at == at and n not in read] + named


def _is_other(dtype: str, expected: str) -> bool:
    return dtype in WIDTH and dtype != expected
