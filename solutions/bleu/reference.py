"""BLEU: how much of a predicted sequence stands in the reference.

    BLEU = exp(min(0, 1 - len_label / len_pred)) * product over n = 1 ... k of p_n ** (1 / 2 ** n)

Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation" (ACL P02-1040), sections 2.1 to
2.3; with the weights of Zhang et al., "Dive into Deep Learning", section 10.7: 1/2, 1/4, ... instead of 1/k.
"""

import math
from collections import Counter

Token = str | int


def bleu(pred: list[Token], label: list[Token], k: int) -> float:
    """Score a prediction against one label.

    pred   the predicted tokens, texts or ids; may be empty
    label  the tokens that were expected; may be empty
    k      the longest n-grams that count

    Returns a number from 0 to 1. Lengths for which the prediction has no n-grams play no part.
    """
    if not pred:
        return 0.0
    score = math.exp(min(0.0, 1.0 - len(label) / len(pred)))
    for n in range(1, min(k, len(pred)) + 1):
        of_pred = Counter(tuple(pred[i : i + n]) for i in range(len(pred) - n + 1))
        of_label = Counter(tuple(label[i : i + n]) for i in range(len(label) - n + 1))
        matches = sum((of_pred & of_label).values())  # each n-gram at most as often as it stands in the label
        precision = matches / (len(pred) - n + 1)
        score *= precision ** (0.5**n)
    return score
