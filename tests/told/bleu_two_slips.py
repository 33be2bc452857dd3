# kata: bleu
# names: brevity-upside-down, not-clipped
import math
from collections import Counter


def bleu(pred, label, k):
    if len(pred) == 0:
        return 0.0
    score = math.exp(min(0, 1 - len(pred) / len(label)))  # wrong
    for n in range(1, min(k, len(pred)) + 1):
        c = Counter(tuple(label[i:i + n]) for i in range(len(label) - n + 1))
        matches = 0
        for i in range(len(pred) - n + 1):
            g = tuple(pred[i:i + n])
            if g in c:
                matches += 1
        score *= (matches / (len(pred) - n + 1)) ** (0.5 ** n)
    return score
