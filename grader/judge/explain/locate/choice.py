"""Which failing case is looked at, and which of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch

from grader.judge.cases.case import DERIVED_FROM
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.wrong import is_cut_short
from grader.judge.explain.reproduce import is_long
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.transport.wire import tensors_in

LARGEST_CALL: Final = 1500
"""The largest failing call below so many numbers is looked at: in small tensors much is equal by chance."""
MOST_GIVEN: Final = 30
"""A call that is given more tensors than so many is too large: with each of a hundred batches much is done."""
LARGEST_RESULT: Final = 400_000
"""A call with larger results is not made once more: its steps would take too long to be compared."""
OF_NUMBERS: Final = ("value", "error")
"""Groups of failures that are looked for by the numbers of the steps."""
OF_MODULES: Final = ("parameters", "no-error")
"""Kinds for which no call has to be made once more."""
LONGEST_TOLD: Final = 120
"""A result that is no tensor is looked at in so many characters at most."""
LEAST_REPEATED: Final = 24
"""Results of fewer numbers are not asked whether these repeat."""
MOST_EACH: Final = 3
"""Each number stands so often in a result at most, else they tell little of their order."""


def chosen(cases: Sequence[CaseOutcome]) -> CaseOutcome | None:
    """Return the failing case to look at: of those as they are written the largest that is not too large.

    Results of a few numbers again and again are alike in whatever order they lie: they are looked at last.
    """
    fitting = [case for case in cases if wrong_call(case) is not None]
    plain = [c for c in fitting if c.family == c.case.family and c.family in DERIVED_FROM] or fitting
    by_group = {g: [c for c in plain if c.failure is not None and c.failure.group == g] for g in OF_NUMBERS}
    plain = by_group["value"] or by_group["error"] or plain  # numbers tell most, a fact least
    plain = [c for c in fitting if _is_cut_short(c)] or plain  # but a list that ends too early
    plain = [c for c in plain if not _repeats(c)] or plain
    size = {case: _size(case) for case in plain}
    few = [case for case in plain if size[case] <= LARGEST_CALL and _given(case) <= MOST_GIVEN]
    if few:
        return max(few, key=size.__getitem__)
    return min(plain, key=size.__getitem__, default=None)


def _is_cut_short(case: CaseOutcome) -> bool:
    call = wrong_call(case)
    return call is not None and is_cut_short(call.value, call.want)


def _repeats(case: CaseOutcome) -> bool:
    """Whether most numbers of a result, beside zeros, stand in it several times."""
    call = wrong_call(case)
    floats = (leaf for leaf in tensors_in(call.want if call is not None else None) if leaf.is_floating_point())
    others = (leaf[leaf != 0] for leaf in floats if leaf.numel() >= LEAST_REPEATED)
    return any(MOST_EACH * len(torch.unique(leaf)) < leaf.numel() for leaf in others)


def _given(case: CaseOutcome) -> int:
    """Return how many tensors the call of a failing case is given."""
    call = wrong_call(case)
    return sum(1 for _one in tensors_in((call.trees.get("args"), call.trees.get("kwargs")))) if call is not None else 0


def _size(case: CaseOutcome) -> int:
    """Return how large the call of a failing case is: its arguments, or what it returns where these are no tensors."""
    call = wrong_call(case)
    want = str(call.want) if call is not None and call.size == 0 else ""
    numbers = sum(leaf.numel() for leaf in tensors_in(call.want)) if want and call is not None else 0
    if not want or numbers:
        return numbers or (case.failure.size if case.failure else 0)
    told = len(want) + (len(call.call) if call is not None else 0)
    return told if len(want) <= LONGEST_TOLD else LARGEST_CALL + told


def wrong_call(case: CaseOutcome) -> Exchange | None:
    """Return the call of a failing case that can tell where it goes wrong."""
    check, failure = case.check, case.failure
    if check is None or failure is None or case.case.trains or case.case.large:
        return None
    settled = failed_after(case)
    last = settled[-1] if settled else None
    if last is None or _is_too_large(last):
        return None
    if failure.kind == "modified":
        return next((e for e in settled if e.reply.get("modified") and e.header["op"] == "call"), None)
    if failure.kind in OF_MODULES:
        return last if last.header["op"] == "build" or failure.kind == "no-error" else None
    if failure.kind == "error" and not failure.line:
        return last
    elsewhere = case.variant.device != "cpu" and failure.kind not in ("device", "error")
    if check.expected_an_error:
        return last if failure.kind == "error" and not elsewhere else None
    if last.header["op"] != "call" or elsewhere:
        return None
    if failure.kind == "error":
        return last
    if failure.group in OF_NUMBERS:
        return last if last.want is not None else None
    return last


def _is_too_large(call: Exchange) -> bool:
    """Whether a call is not made once more to be looked at."""
    return is_long(call) or sum(leaf.numel() for leaf in tensors_in(call.want)) > LARGEST_RESULT
