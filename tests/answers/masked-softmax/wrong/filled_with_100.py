# family: mask
# mistake: fill-1e4
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    hidden = ~mask
    weights = torch.softmax(scores.masked_fill(hidden, -100.0), dim)
    return weights.masked_fill(hidden, 0.0)
