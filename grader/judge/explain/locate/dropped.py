"""Where a call drops entries otherwise than the reference: what comes out is drawn, so numbers tell nothing of it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import torch

from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.kept import Keeps, from_before
from grader.judge.explain.locate.match import RELATIVE, near
from grader.judge.explain.locate.places import lines_of, located
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import Trace, calls_before, of_answer
from grader.judge.explain.locate.uses import does_nothing
from grader.judge.explain.locate.words import FEW, Located, listed
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.transport.wire import dtype_name

DRAWS: Final = frozenset(
    (
        *("bernoulli", "bernoulli_", "native_dropout", "rand", "rand_like", "randn", "randn_like", "randint"),
        *("randint_like", "randperm", "random_", "uniform_", "normal_", "normal", "exponential_", "multinomial"),
        *("geometric_", "log_normal_", "cauchy_", "poisson", "binomial", "_fused_dropout"),
    )
)
"""Operations that draw numbers."""
WHOLE: Final = frozenset(("dropout", "dropout_", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"))
"""Those that show in their place without gradients, and draw only in training."""
NAMED: Final = re.compile(f"'({'|'.join(sorted(DRAWS | WHOLE))})'")
"""One of them by its name, in the text of a statement."""


def is_drawn(reference: Trace) -> bool:
    """Whether the reference draws numbers in a call."""
    return bool(_drawing(reference))


def draws(case: CaseOutcome, call: Exchange, traces: tuple[Trace, Trace], statements: Statements) -> Located | None:
    """Find the lines that drop entries in another shape than the reference, or none where it does, or just those.

    ``traces``: the reference's of the call, and the answer's.
    """
    check, (reference, answer) = case.check, traces
    assert check is not None
    theirs, mine = _drawing(reference), _drawing(answer)
    if not mine and (kept := _drawn_before(case, call, answer, statements)):
        return from_before(case, kept)
    strange, lacking = _apart(answer, mine, reference, theirs)
    if strange:
        sentence = _("Entries are dropped in {where}, in another shape than those of the model answer.")
        return located(case, lines_of((answer.steps[n] for n in strange), statements), sentence)
    if lacking:
        slack = RELATIVE.get(dtype_name(check.variant.dtype), 0.0)
        whole = _not_dropped(lacking, reference, answer, slack)
        made = lines_of((answer.steps[n] for n in whole), statements)
        made = tuple(dict.fromkeys((*made[:1], *_readers(answer, whole, statements), *made)))
        sentence = _("Entries of what is made in {where} are dropped by the model answer, not here.")
        return located(case, made, sentence.format(where=listed(made[:1])) if made else sentence)
    flow, model = flow_of(statements.source), flow_of(check.grading.reference_text)
    known = set(mine)
    fed = [n for n, step in enumerate(answer.steps) if not known.isdisjoint(step.reads)]
    lines = lines_of((answer.steps[n] for n in sorted((*mine, *fed))), statements)
    own = tuple(line for line in lines if flow.is_own(line, model)) or lines
    return located(case, own[: 2 * FEW], _("Entries are dropped in {where}."))


def _drawn_before(case: CaseOutcome, call: Exchange, answer: Trace, statements: Statements) -> tuple[int, ...]:
    """Return the lines that keep what an earlier call has drawn; none where none did."""
    check = case.check
    assert check is not None
    keeps = Keeps(statements, check.grading.reference_text, stateful=bool(call.header.get("stateful")))
    flow = flow_of(statements.source)
    earlier = calls_before(check, call) if keeps.kept else []
    drew = any(NAMED.search(flow.at(one.line).text) for one in keeps.kept)
    drew = drew or any(trace is not None and _drawing(trace) for trace in (of_answer(check, one) for one in earlier))
    return keeps.lines(ran={one.line for one in answer.passed}) if drew else ()


def _drawing(trace: Trace) -> list[int]:
    whole = [n for n, step in enumerate(trace.steps) if step.operation in WHOLE and not does_nothing(trace, n)]
    return [n for n, step in enumerate(trace.steps) if step.line and (step.operation in DRAWS or n in whole)]


def _size(trace: Trace, number: int) -> int:
    return math.prod(trace.steps[number].shape)


def _apart(answer: Trace, mine: Sequence[int], reference: Trace, theirs: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the draws of the answer that are as large as none of the reference, and those that it lacks.

    What is drawn in equal parts, head by head, is as large as its parts together.
    """
    left = Counter(_size(reference, n) for n in theirs)
    strange: dict[int, list[int]] = {}
    for number in mine:
        size = _size(answer, number)
        if left[size] > 0:
            left[size] -= 1
        else:
            strange.setdefault(size, []).append(number)
    for size, numbers in list(strange.items()):
        if left[size * len(numbers)] > 0:
            left[size * len(numbers)] -= 1
            del strange[size]
    lacking = [n for n in theirs if left[_size(reference, n)] > 0]
    return [n for numbers in strange.values() for n in numbers], lacking


def _not_dropped(lacking: Iterable[int], reference: Trace, answer: Trace, slack: float) -> list[int]:
    """Return the last step of the answer of which the reference drops entries, before any draw, and its readers."""
    drawn = set(_drawing(reference))
    for number in lacking:
        noise = {number}  # which is divided by the share that is kept
        noise.update(
            n for n, step in enumerate(reference.steps) if not noise.isdisjoint(step.reads) and step.writes >= 0
        )
        users = [step for step in reference.steps if not noise.isdisjoint(step.reads)]
        reads = {n for step in users for n in step.reads if n < number and not drawn & reference.behind(n, ())[0]}
        whole = [value for n in reads if (value := reference.steps[n].value) is not None and value.numel() > 1]
        same = [
            n
            for n, step in enumerate(answer.steps)
            if step.line and step.value is not None and any(_has_the_numbers(step.value, one, slack) for one in whole)
        ]
        if same:
            return [same[-1], *(n for n, step in enumerate(answer.steps) if same[-1] in step.reads)]
    return []


def _readers(answer: Trace, whole: Sequence[int], statements: Statements) -> list[int]:
    """Return the first statements that read the name of what should be dropped, whether or not they compute."""
    flow = flow_of(statements.source)
    made = flow.at(answer.steps[whole[0]].line) if whole else None
    if made is None:
        return []
    lines = dict.fromkeys(flow.at(one.line).line for one in answer.passed if made.stores & flow.at(one.line).reads)
    return [line for line in lines if line > made.line][: FEW - 1]


def _has_the_numbers(mine: torch.Tensor, theirs: torch.Tensor, slack: float) -> bool:
    if mine.numel() != theirs.numel() or not mine.dtype.is_floating_point:
        return False
    return near(mine.double().flatten().sort().values, theirs.double().flatten().sort().values, slack)
