import torch


def bleu(pred, label, k):
    if len(pred) == 0:
        return 0.0
    ids = {token: i for i, token in enumerate(dict.fromkeys([*pred, *label]))}
    a = torch.tensor([ids[t] for t in pred])
    b = torch.tensor([ids[t] for t in label], dtype=torch.long)
    score = torch.tensor(min(0.0, 1 - len(label) / len(pred)), dtype=torch.float64).exp()
    for n in range(1, min(k, len(pred)) + 1):
        mine = a.unfold(0, n, 1)
        if len(label) < n:
            return 0.0
        theirs = b.unfold(0, n, 1)
        grams, counts = mine.unique(dim=0, return_counts=True)
        there = (grams[:, None] == theirs[None]).all(-1).sum(1)
        score = score * (torch.minimum(counts, there).sum().double() / mine.size(0)) ** (0.5**n)
    return score.item()
