# family: mask
# mistake: none
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores + (1 - mask.to(scores.dtype)) * float("-inf")
    return torch.softmax(scores, dim=dim)
