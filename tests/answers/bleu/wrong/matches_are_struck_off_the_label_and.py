# family: core
# mistake: none
# Matches are struck off the label, and for single tokens that is the caller's own list.
import math


def bleu(pred, label, k):
    # nothing there, nothing right
    if len(pred) == 0 or len(label) == 0:
        return 0.0

    n_label, n_pred = len(label), len(pred)

    # all pieces of the label first, by their length
    pieces = {}
    for n in range(k, 0, -1):
        if n == 1:
            pieces[n] = label  # wrong
        else:
            pieces[n] = [tuple(label[i : i + n]) for i in range(n_label - n + 1)]

    score = math.exp(min(0, 1 - n_label / n_pred))
    for n in range(1, k + 1):
        total = n_pred - n + 1
        if total <= 0:
            continue  # the prediction is too short
        hits = 0
        for i in range(total):
            piece = pred[i] if n == 1 else tuple(pred[i : i + n])
            if piece in pieces[n]:
                hits += 1
                # each piece of the label serves once
                pieces[n].remove(piece)
        score *= (hits / total) ** (1 / 2**n)
    return score
