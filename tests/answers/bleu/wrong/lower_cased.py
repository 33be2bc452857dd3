# family: core
# mistake: none
import math
from collections import Counter


def bleu(pred, label, k):
    if not pred:
        return 0.0
    pred, label = [str(t).lower() for t in pred], [str(t).lower() for t in label]
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, min(k, len(pred)) + 1):
        a = Counter(tuple(pred[i : i + n]) for i in range(len(pred) - n + 1))
        b = Counter(tuple(label[i : i + n]) for i in range(len(label) - n + 1))
        score *= (sum((a & b).values()) / sum(a.values())) ** (0.5**n)
    return score
