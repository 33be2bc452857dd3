"""Which failing case is looked at, and what is said of the place where an answer goes wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from grader.judge.cases.case import DERIVED_FROM
from grader.judge.exchange.compare import agree
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate import kinds
from grader.judge.explain.locate.region import Alignment, smallest
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import of_answer, of_reference
from grader.judge.explain.locate.words import Located, told
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.transport.wire import dtype_name

LARGEST_CALL: Final = 1500
"""The largest failing call below so many numbers is looked at: in small tensors much is equal by chance."""
LARGEST_RESULT: Final = 20_000
"""A call with larger results is not made once more: its steps would take too long to be compared."""
OF_NUMBERS: Final = ("value", "nan", "shape", "error")
"""Kinds of failures that are looked for by the numbers of the steps."""
OF_MODULES: Final = ("parameters", "no-error")
"""Kinds for which no call has to be made once more."""


def locate(case: CaseOutcome, source: str) -> Located | None:
    """Return where a failing case goes wrong; None where that cannot be told for certain."""
    exchange = wrong_call(case)
    if exchange is None or case.failure is None:
        return None
    kind, statements = case.failure.kind, Statements(source)
    if kind in OF_NUMBERS:
        return _by_numbers(case, exchange, statements) or kinds.precision(case, exchange, statements)
    look = _LOOKS.get(kind.partition("-")[0]) or _LOOKS.get(kind)
    return look(case, exchange, statements) if look is not None else None


_LOOKS: Final[dict[str, Callable[[CaseOutcome, Exchange, Statements], Located | None]]] = {
    "gradient": kinds.gradient,
    "no-gradient": kinds.gradient,
    "dtype": kinds.dtype,
    "fact": kinds.precision,
    "modified": kinds.modified,
    "structure": kinds.structure,
    "parameters": kinds.parameters,
    "no-error": kinds.unchecked,
}


def _by_numbers(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    check = case.check
    assert check is not None
    assert case.failure is not None
    reference = of_reference(check, exchange)
    answer = of_answer(check, exchange) if reference is not None else None
    if reference is None or answer is None:
        return None
    alignment = Alignment(reference, answer, dtype_name(check.variant.dtype))
    if answer.raised:
        found = alignment.raised(case.failure.line)
    else:
        found = smallest([alignment.region(*leaf) for leaf in wrong_results(exchange)])
    return told(case, found, statements) if found is not None else None


def chosen(cases: Sequence[CaseOutcome]) -> CaseOutcome | None:
    """Return the failing case to look at: of those as they are written the largest that is not too large."""
    fitting = [case for case in cases if wrong_call(case) is not None]
    plain = [c for c in fitting if c.family == c.case.family and c.family in DERIVED_FROM] or fitting
    size = {case: case.failure.size if case.failure else 0 for case in plain}
    few = [case for case in plain if size[case] <= LARGEST_CALL]
    if few:
        return max(few, key=size.__getitem__)
    return min(plain, key=size.__getitem__, default=None)


def wrong_call(case: CaseOutcome) -> Exchange | None:
    """Return the call of a failing case that can tell where it goes wrong."""
    check, failure = case.check, case.failure
    if check is None or failure is None or case.case.trains:
        return None
    settled = failed_after(case)
    last = settled[-1] if settled else None
    if last is None or sum(leaf.numel() for leaf in leaves(last.want)) > LARGEST_RESULT:
        return None
    if failure.kind == "modified":
        return next((e for e in settled if e.reply.get("modified") and e.header["op"] == "call"), None)
    if failure.kind in OF_MODULES:
        return last if last.header["op"] == "build" or failure.kind == "no-error" else None
    if last.header["op"] != "call" or check.expected_an_error or case.variant.device != "cpu":
        return None
    if failure.kind == "error":
        return last if failure.line else None
    if failure.kind in OF_NUMBERS:
        return last if last.want is not None else None
    return last


def wrong_results(exchange: Exchange) -> list[tuple[torch.Tensor | None, torch.Tensor, str]]:
    """Return the results of a call that are not as expected: what came, what was expected, the name."""
    got, want = leaves(exchange.value), leaves(exchange.want)
    names = exchange.names if len(exchange.names) == len(want) else ("",) * len(want)
    found: list[tuple[torch.Tensor | None, torch.Tensor, str]] = []
    for index, (theirs, name) in enumerate(zip(want, names, strict=True)):
        mine = got[index] if index < len(got) else None
        if mine is None or mine.shape != theirs.shape or not agree(mine, theirs.to(mine.dtype)):
            found.append((mine, theirs, name))
    return found


def leaves(value: Any) -> list[torch.Tensor]:
    """Return the tensors of a result, left to right."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (tuple, list)) else []
