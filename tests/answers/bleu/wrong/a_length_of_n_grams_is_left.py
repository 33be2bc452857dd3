# family: core
# mistake: none
# A length of n-grams is left out where only the label is too short for it, too.
"""BLEU of one sentence against one label, as in Dive into Deep Learning."""

from __future__ import annotations

import math

Token = str | int


def _count(tokens: list[Token], n: int) -> dict[tuple[Token, ...], int]:
    table: dict[tuple[Token, ...], int] = {}
    for gram in zip(*(tokens[i:] for i in range(n))):
        table[gram] = table.get(gram, 0) + 1
    return table


def _precision(pred: list[Token], label: list[Token], n: int) -> float:
    wanted = _count(label, n)
    matching = sum(min(c, wanted.get(gram, 0)) for gram, c in _count(pred, n).items())
    return matching / (len(pred) - n + 1)


def _brevity(n_pred: int, n_label: int) -> float:
    return math.exp(min(0.0, 1 - n_label / n_pred))


def bleu(pred: list[Token], label: list[Token], k: int) -> float:
    if len(pred) == 0 or len(label) == 0:
        return 0.0
    longest = min(k, len(pred), len(label))  # wrong
    score = _brevity(len(pred), len(label))
    for n in range(1, longest + 1):
        score *= math.pow(_precision(pred, label, n), 1 / 2**n)
    return score
