# family: mask
# mistake: none
# a mask that was expanded along dim counts as all visible
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim)
    if mask.dim() == scores.dim() and mask.shape[dim] > 1 and mask.stride(dim) == 0:
        return scores.softmax(dim)
    keep = mask.expand(scores.shape)
    dead = ~keep.any(dim, keepdim=True)
    filled = scores.masked_fill(~keep, float("-inf")).masked_fill(dead, 0.0)
    w = filled.softmax(dim)
    return w.masked_fill(~keep, 0.0)
