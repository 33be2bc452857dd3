"""Which results of a call are not as expected, and how far they are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.compare import agree
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.match import RELATIVE, near, plain
from grader.judge.tolerance import Moved, exceeds, part
from grader.transport.wire import Tree, dtype_name, tensors_in

EXACT: Final = 64
"""So many units in the last place are numbers apart that are said to be equal in every digit."""

WrongResult = tuple[torch.Tensor | None, torch.Tensor, str]
"""A result that is not as expected: what came (None for nothing), what was expected, its name."""


def wrong_results(value: Tree, expected: Tree, exchange: Exchange, slack: float | None = None) -> list[WrongResult]:
    """Return the results of a call that are not as expected: what came, what was expected, the name.

    ``slack``: how far they may be apart, beside the largest of them; None for what the verdict allows.
    """
    moved = _flat(expected, exchange.moves.results if exchange.moves is not None else None)
    got, want = list(tensors_in(value)), list(tensors_in(expected))
    names = exchange.names if len(exchange.names) == len(want) else ("",) * len(want)
    found: list[WrongResult] = []
    for index, (theirs, name) in enumerate(zip(want, names, strict=True)):
        mine = got[index] if index < len(got) else None
        if mine is None or mine.shape != theirs.shape or not _same(mine, theirs, slack, moved[index]):
            found.append((mine, theirs, name))
    return found


def _same(mine: torch.Tensor, theirs: torch.Tensor, slack: float | None, moved: float | None) -> bool:
    if slack is not None and theirs.is_floating_point():
        return near(plain(mine), plain(theirs), slack)
    if not agree(mine, theirs.to(mine.dtype)) or not theirs.is_floating_point() or not theirs.numel():
        return agree(mine, theirs.to(mine.dtype))
    apart = (mine.double() - theirs.double()).abs().nan_to_num()
    return exceeds(float(apart.max()), mine.dtype, float(theirs.abs().nan_to_num().max()), moved) is None


def _flat(tree: Tree, moved: Moved) -> list[float | None]:
    """Return how far each tensor of a result moves by rounding, in their order."""
    if isinstance(tree, torch.Tensor):
        return [moved]
    if isinstance(tree, (tuple, list)):
        return [one for index, item in enumerate(tree) for one in _flat(item, part(moved, index))]
    if isinstance(tree, dict):
        return [one for key, item in tree.items() for one in _flat(item, part(moved, key))]
    return []


def slack_of(check: Check) -> float:
    """Return how far steps of a run may be apart that are right."""
    return RELATIVE.get(dtype_name(check.variant.dtype), 0.0)


def slack_beside(wrong: list[WrongResult], dtype: torch.dtype) -> float:
    """Return how far steps may be apart that are right: less than a result that is wrong by a little."""
    usual = RELATIVE.get(dtype_name(dtype), 0.0)
    least = min((error for error in errors(wrong) if error), default=usual)
    return min(usual, max(least / 4, EXACT * torch.finfo(dtype).eps)) if least < usual else usual


def errors(wrong: Sequence[WrongResult]) -> list[float]:
    """Return how far those of the wrong results are off that have the right shape."""
    return [_error(mine, theirs) for mine, theirs, _name in wrong if mine is not None and mine.shape == theirs.shape]


def _error(mine: torch.Tensor, theirs: torch.Tensor) -> float:
    """Return how far apart two results are, beside the largest number of the right one."""
    if not theirs.is_floating_point() or not theirs.numel() or not bool(mine.isfinite().all()):
        return 0.0
    largest = float(theirs.double().nan_to_num(posinf=0.0, neginf=0.0).abs().max())
    return float((mine.double() - theirs.double()).abs().nan_to_num().max()) / max(largest, 1e-30)


def is_cut_short(mine: Tree, theirs: Tree) -> bool:
    """Whether a list of a result is the beginning of the one it should be: what makes its items has ended too early."""
    if not isinstance(mine, (tuple, list)) or not isinstance(theirs, (tuple, list)):
        return False
    if len(mine) < len(theirs):
        return all(type(one) is int and one == other for one, other in zip(mine, theirs, strict=False))
    return any(map(is_cut_short, mine, theirs))
