"""Which failing case is looked at, and what is said of the place where an answer goes wrong in it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from grader.judge.cases.case import DERIVED_FROM
from grader.judge.exchange.compare import agree
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.region import Alignment, Region, smallest
from grader.judge.explain.locate.traces import of_answer, of_reference
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.transport.wire import dtype_name

KINDS: Final = ("value", "nan", "shape", "structure", "error")
"""Kinds of failures that steps can tell something about."""
LARGEST_CALL: Final = 1500
"""The largest failing call below so many numbers is looked at: in small tensors much is equal by chance."""
FEW: Final = 3


@dataclass(frozen=True, slots=True)
class Located:
    """The lines at which an answer leaves the path of the reference, and how that is known."""

    case: CaseOutcome
    lines: tuple[int, ...]
    sentence: str

    @property
    def line(self) -> int:
        """The line to look at first."""
        return self.lines[0]


def locate(case: CaseOutcome, source: str) -> Located | None:
    """Return where a failing case goes wrong; None where that cannot be told for certain."""
    exchange = wrong_call(case)
    check = case.check
    if exchange is None or check is None or case.failure is None:
        return None
    reference = of_reference(check, exchange)
    answer = of_answer(check, exchange) if reference is not None else None
    if reference is None or answer is None:
        return None
    alignment = Alignment(reference, answer, dtype_name(check.variant.dtype))
    if answer.raised:
        found = alignment.raised(case.failure.line)
    else:
        found = smallest([alignment.region(*leaf) for leaf in wrong_results(exchange)])
    return told(case, found, Statements(source)) if found is not None else None


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
    """Return the call of a failing case that steps can tell something about."""
    check, failure = case.check, case.failure
    if (
        check is None
        or failure is None
        or failure.kind not in KINDS
        or case.case.trains
        or case.variant.device != "cpu"
    ):
        return None
    settled = [exchange for exchange in check.exchanges if exchange.settled]
    last = settled[-1] if settled else None
    if last is None or last.header["op"] != "call" or check.expected_an_error:
        return None
    if failure.kind == "error":
        return last if failure.line else None
    return last if last.want is not None else None


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


class Statements:
    """Which line a statement of a file begins with."""

    def __init__(self, source: str) -> None:
        self._first: dict[int, int] = {}
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.end_lineno:
                self._first.update(dict.fromkeys(range(node.lineno, node.end_lineno + 1), node.lineno))

    def of(self, line: int) -> int:
        """Return the first line of the statement that a line is in."""
        return self._first.get(line, line)


def told(case: CaseOutcome, region: Region, statements: Statements) -> Located | None:
    """Say what a region tells."""
    lines = tuple(dict.fromkeys(statements.of(line) for line in region.lines))
    if not lines:
        return None
    return Located(
        case, lines, " ".join(part for part in (_sentence(region, lines, statements), _beside(region)) if part)
    )


def _sentence(region: Region, lines: tuple[int, ...], statements: Statements) -> str:
    where, right = listed(lines), region.right
    if right is not None and not region.returned and statements.of(right.line) in lines:
        right = None
    if region.returned and right is not None:
        if right.name:
            sentence = _(
                "What is returned as `{returned}` has the numbers of `{name}`: a step is missing after {where}."
            )
            return sentence.format(returned=region.returned, name=right.name, where=where)
        sentence = _("What is returned as `{returned}` is right so far: a step is missing after {where}.")
        return sentence.format(returned=region.returned, where=where)
    if right is None:
        begin = _("What goes in is right") if region.right is not None else _("The inputs are right")
    elif right.name:
        begin = _("Right up to `{name}` (line {line})").format(name=right.name, line=statements.of(right.line))
    else:
        begin = _("Right up to line {line}").format(line=statements.of(right.line))
    if region.raised:
        return _("{begin}; {where}: what is computed there fails.").format(begin=begin, where=where)
    if region.reordered:
        return _("{begin}; then the right numbers lie in another order: {where}.").format(begin=begin, where=where)
    if region.times:
        sentence = _("{begin}; {where} has `{name}` {times} times.")
        return sentence.format(begin=begin, where=where, name=region.missing, times=f"{region.times:.3g}")
    if region.missing and (right is None or region.missing != right.name):
        return _("{begin}; `{name}` is not: {where}.").format(begin=begin, name=region.missing, where=where)
    return _("{begin}; what becomes of it is not: {where}.").format(begin=begin, where=where)


def _beside(region: Region) -> str:
    return _("What was made before the call goes in there, too.") if region.is_open else ""


def listed(lines: Sequence[int]) -> str:
    """Name lines: one, a few, or from where to where."""
    if len(lines) == 1:
        return _("line {line}").format(line=lines[0])
    if len(lines) <= FEW:
        return _("lines {lines}").format(lines=_(", ").join(map(str, sorted(lines))))
    return _("lines {first} to {last}").format(first=min(lines), last=max(lines))
