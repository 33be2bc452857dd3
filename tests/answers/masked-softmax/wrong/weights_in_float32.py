# family: dtype
# mistake: float32-result
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores.float(), dim=dim)
    weights = torch.softmax(scores.float().masked_fill(~mask, float("-inf")), dim=dim)
    return weights.masked_fill(~mask, 0.0)
