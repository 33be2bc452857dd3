# family: core
# mistake: none
"""Reads the first 100 tokens."""

import math
from collections import Counter

Token = str | int


def bleu(pred: list[Token], label: list[Token], k: int) -> float:
    pred, label = (pred[:100], label[:100])
    if not pred:
        return 0.0
    score = math.exp(min(0.0, 1.0 - len(label) / len(pred)))
    for n in range(1, min(k, len(pred)) + 1):
        of_pred = Counter((tuple(pred[i : i + n]) for i in range(len(pred) - n + 1)))
        of_label = Counter((tuple(label[i : i + n]) for i in range(len(label) - n + 1)))
        matches = sum((of_pred & of_label).values())
        precision = matches / (len(pred) - n + 1)
        score *= precision**0.5**n
    return score
