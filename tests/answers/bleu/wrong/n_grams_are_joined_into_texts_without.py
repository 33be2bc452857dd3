# family: core
# mistake: glued-together
# N-grams are joined into texts without a separator, so that "ab","c" matches "a","bc" and 1 matches "1".
import collections
import math


def bleu(pred, label, k):
    len_pred, len_label = len(pred), len(label)
    if len_pred == 0 or len_label == 0:
        return 0.0
    join = lambda tokens: "".join(map(str, tokens))  # wrong
    score = math.exp(min(0, 1 - len_label / len_pred))
    for n in range(1, min(k, len_pred) + 1):
        num_matches, label_subs = 0, collections.defaultdict(int)
        for i in range(len_label - n + 1):
            label_subs[join(label[i : i + n])] += 1
        for i in range(len_pred - n + 1):
            gram = join(pred[i : i + n])
            if label_subs[gram] > 0:
                num_matches += 1
                label_subs[gram] -= 1
        score *= math.pow(num_matches / (len_pred - n + 1), math.pow(0.5, n))
    return score
