# family: device
# mistake: none
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        mask = torch.ones(scores.shape, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=dim)
    return weights.masked_fill(~mask, 0.0)
