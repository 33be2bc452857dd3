# family: core
# mistake: geometric-mean
import math
from collections import Counter


def bleu(pred, label, k):
    if not pred:
        return 0.0
    logs = 0.0
    for n in range(1, k + 1):
        a = Counter(tuple(pred[i : i + n]) for i in range(len(pred) - n + 1))
        b = Counter(tuple(label[i : i + n]) for i in range(len(label) - n + 1))
        hits = sum((a & b).values())
        if hits == 0:
            return 0.0
        logs += math.log(hits / sum(a.values())) / k
    bp = 1.0 if len(pred) > len(label) else math.exp(1 - len(label) / len(pred))
    return bp * math.exp(logs)
