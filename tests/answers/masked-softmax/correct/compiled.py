import torch


@torch.compile(dynamic=True)
def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim)
    return torch.where(mask, weights, torch.zeros_like(weights))
