# family: core
# mistake: not-clipped
# The counts are not clipped: an n-gram that stands in the label once matches as often as it is predicted.
import math
from collections import Counter


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def bleu(pred, label, k):
    if not pred or not label:
        return 0.0
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, min(k, len(pred)) + 1):
        predicted, expected = ngrams(pred, n), Counter(ngrams(label, n))
        matches = sum(1 for gram in predicted if expected[gram] > 0)  # wrong
        score *= (matches / len(predicted)) ** (0.5**n)
    return float(score)
