# family: contract
# mistake: label-used-up
import math


def bleu(pred, label, k):
    if not pred:
        return 0.0
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(min(k, len(pred)), 0, -1):
        matches = 0
        if n > 1:
            left = [label[i : i + n] for i in range(len(label) - n + 1)]
        else:
            left, pred = label, [[t] for t in pred]
            for i in range(len(left)):
                left[i] = [left[i]]
        for i in range(len(pred) - n + 1):
            gram = pred[i : i + n] if n > 1 else pred[i]
            if gram in left:
                left.remove(gram)
                matches += 1
        score *= (matches / (len(pred) - n + 1)) ** (0.5**n)
    return score
