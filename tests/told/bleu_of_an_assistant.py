# kata: bleu
# names: geometric-mean, short-scores-zero
import math
from collections import Counter


def bleu(pred, label, k):
    if len(pred) == 0 or len(label) == 0:
        return 0.0
    precisions = []
    for n in range(1, k + 1):
        pred_ngrams = Counter(tuple(pred[i:i + n]) for i in range(len(pred) - n + 1))
        label_ngrams = Counter(tuple(label[i:i + n]) for i in range(len(label) - n + 1))
        overlap = sum((pred_ngrams & label_ngrams).values())
        total = max(1, sum(pred_ngrams.values()))  # wrong
        precisions.append(overlap / total)
    if min(precisions) == 0:
        return 0.0
    geo_mean = math.exp(sum(math.log(p) for p in precisions) / k)
    bp = 1.0 if len(pred) > len(label) else math.exp(1 - len(label) / len(pred))
    return bp * geo_mean
