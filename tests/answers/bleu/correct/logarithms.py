from collections import Counter
from math import exp, log


def ngrams(tokens, n):
    return list(zip(*(tokens[i:] for i in range(n))))


def bleu(pred, label, k):
    total = 0.0
    for n in range(1, k + 1):
        mine, theirs = ngrams(pred, n), ngrams(label, n)
        if not mine:
            break
        reference = Counter(theirs)
        hits = sum(min(count, reference[gram]) for gram, count in Counter(mine).items())
        if hits == 0:
            return 0.0
        total += log(hits / len(mine)) / 2**n
    if not pred:
        return 0.0
    penalty = 1.0 if len(pred) >= len(label) else exp(1 - len(label) / len(pred))
    return penalty * exp(total)
