# family: cost
# mistake: whole-score-matrix
import math

import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    ones = torch.ones(n, m, dtype=torch.bool, device=q.device)
    band = ones.tril(m - n) & ones.triu(m - n - window + 1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.masked_fill(~band, float("-inf")).softmax(-1)
    return weights @ v
