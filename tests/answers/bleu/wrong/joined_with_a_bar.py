# family: core
# mistake: none
import math
from collections import Counter


def bleu(pred, label, k):
    if not pred or not label:
        return 0.0
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, min(k, len(pred)) + 1):
        theirs = Counter("|".join(map(str, label[i : i + n])) for i in range(len(label) - n + 1))
        mine = Counter("|".join(map(str, pred[i : i + n])) for i in range(len(pred) - n + 1))
        score *= ((mine & theirs).total() / (len(pred) - n + 1)) ** (0.5**n)
    return float(score)
