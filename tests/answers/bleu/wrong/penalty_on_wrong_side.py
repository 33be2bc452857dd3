# family: core
# mistake: no-brevity-penalty
import math
from collections import Counter


def bleu(pred, label, k):
    if not pred or not label:
        return 0.0
    bp = math.exp(1 - len(label) / len(pred)) if len(pred) > len(label) else 1.0
    score = bp
    for n in range(1, min(k, len(pred)) + 1):
        a = Counter(tuple(pred[i : i + n]) for i in range(len(pred) - n + 1))
        b = Counter(tuple(label[i : i + n]) for i in range(len(label) - n + 1))
        score *= (sum((a & b).values()) / sum(a.values())) ** (0.5**n)
    return score
