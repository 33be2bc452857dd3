# family: core
# mistake: none
import math


def bleu(pred, label, k):
    if not pred:
        return 0.0
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, min(k, len(pred)) + 1):
        a = {tuple(pred[i : i + n]) for i in range(len(pred) - n + 1)}
        b = {tuple(label[i : i + n]) for i in range(len(label) - n + 1)}
        score *= (len(a & b) / len(a)) ** (0.5**n)
    return score
