from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple, Sequence


class Overlap(NamedTuple):
    matches: int
    total: int

    @property
    def precision(self) -> float:
        return self.matches / self.total


def overlap(pred: Sequence, label: Sequence, n: int) -> Overlap:
    mine = Counter(tuple(pred[i : i + n]) for i in range(len(pred) + 1 - n))
    theirs = Counter(tuple(label[i : i + n]) for i in range(len(label) + 1 - n))
    return Overlap(sum(min(mine[g], theirs[g]) for g in mine), sum(mine.values()))


def nested(values: list[float]) -> float:
    """sqrt(p1 * sqrt(p2 * sqrt(p3 ...)))"""
    result = 1.0
    for value in reversed(values):
        result = math.sqrt(value * result)
    return result


def bleu(pred, label, k):
    found = [overlap(pred, label, n) for n in range(1, k + 1)]
    values = [f.precision for f in found if f.total]
    if not values:
        return 0.0
    return math.exp(min(0, 1 - len(label) / len(pred))) * nested(values)
