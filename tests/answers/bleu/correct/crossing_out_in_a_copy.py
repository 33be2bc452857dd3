import math


def bleu(pred, label, k):
    c, r = len(pred), len(label)
    if c == 0 or r == 0:
        return 0.0
    precisions = []
    for n in range(1, k + 1):
        if c < n:
            continue
        left = [label[i : i + n] for i in range(r - n + 1)]
        matches = 0
        for i in range(c - n + 1):
            gram = pred[i : i + n]
            if gram in left:
                left.remove(gram)
                matches += 1
        precisions.append((n, matches / (c - n + 1)))
    brevity = math.exp(min(0.0, 1 - r / c))
    return brevity * math.prod(p ** (1 / 2**n) for n, p in precisions)
