# family: mask
# mistake: dead-rows-last-axis
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim)
    weights = scores.masked_fill(mask.logical_not(), float("-inf")).softmax(dim)
    has_any = mask.any(-1, keepdim=True)
    return weights.masked_fill(has_any.logical_not(), 0.0)
