# family: contract
# mistake: scores-overwritten
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    hidden = (~mask).expand_as(scores)
    scores.data[hidden] = float("-inf")
    weights = torch.softmax(scores, dim)
    return torch.where(hidden, torch.zeros_like(weights), weights)
