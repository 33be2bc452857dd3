"""What the examples of `kata show --weights` have in common."""

from __future__ import annotations

from typing import Final

import torch

from grader.judge.cases.rng import Numbers
from grader.judge.exchange.arguments import got
from grader.judge.explain.drawing import Curve, Lines

__all__ = ["OTHERS", "WORDS", "Curve", "Lines", "causal", "embedded", "got"]

WORDS: Final = ("the", "cat", "sat", "on", "the", "mat")
"""A sentence in which one word comes twice: it has the same vector in both places."""
OTHERS: Final = ("le", "chat", "était", "assis")
"""The same in another language, to attend across."""


def embedded(rng: Numbers, words: tuple[str, ...], size: int) -> torch.Tensor:
    """Return a vector for each word (1, words, size), for the same word the same one."""
    table = rng.normal(len(words), size)
    return torch.stack([table[words.index(word)] for word in words])[None]


def causal(size: int) -> torch.Tensor:
    """Return a mask (size, size) that shows each place itself and what stands before it."""
    return torch.ones(size, size, dtype=torch.bool).tril()
