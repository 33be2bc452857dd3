import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim=dim)
    mask = mask.expand_as(scores)
    empty = ~mask.any(dim=dim, keepdim=True)
    # let an empty row look at everything, then take it all back
    allowed = mask | empty
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=dim)
    return torch.where(empty, torch.zeros((), dtype=weights.dtype, device=weights.device), weights)
