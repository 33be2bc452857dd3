# family: core
# mistake: glued-together
import collections
import math


def bleu(pred, label, k):
    len_pred, len_label = len(pred), len(label)
    if not len_pred:
        return 0.0
    score = math.exp(min(0, 1 - len_label / len_pred))
    for n in range(1, min(k, len_pred) + 1):
        num_matches, label_subs = 0, collections.defaultdict(int)
        for i in range(len_label - n + 1):
            label_subs["".join(map(str, label[i : i + n]))] += 1
        for i in range(len_pred - n + 1):
            if label_subs["".join(map(str, pred[i : i + n]))] > 0:
                num_matches += 1
                label_subs["".join(map(str, pred[i : i + n]))] -= 1
        score *= math.pow(num_matches / (len_pred - n + 1), math.pow(0.5, n))
    return score
