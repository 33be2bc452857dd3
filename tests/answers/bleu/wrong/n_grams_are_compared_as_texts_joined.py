# family: core
# mistake: joined-with-space
# N-grams are compared as texts joined with a blank, so "a b","c" matches "a","b c" and the id 1 the text "1".
import math
from collections import Counter


def _grams(tokens, n):
    return Counter(" ".join(str(t) for t in tokens[i : i + n]) for i in range(len(tokens) - n + 1))  # wrong


def bleu(pred, label, k):
    if not pred or not label:
        return 0.0
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, k + 1):
        have = _grams(pred, n)
        if not have:
            break
        matches = (have & _grams(label, n)).total()
        score *= (matches / have.total()) ** (0.5**n)
    return float(score)
