# family: mask
# mistake: zero-scores-hidden
import math
import torch
import torch.nn.functional as F

def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    window = min(window, m)
    pad = (0, 0, window - 1, 0)
    keys = F.pad(k, pad).unfold(2, window, 1)[:, :, m - n:]
    values = F.pad(v, pad).unfold(2, window, 1)[:, :, m - n:]
    scores = (q.unsqueeze(-2) @ keys).squeeze(-2) / math.sqrt(q.size(-1))
    # the zeros in front have scores of 0
    scores = scores.masked_fill(scores == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)

