# family: mask
# mistake: none
# where there is one key it weighs 1, hidden or not, if dim is not the last axis
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim)
    if scores.shape[dim] == 1 and dim not in (-1, scores.dim() - 1):
        return torch.ones_like(scores)
    keep = mask.expand(scores.shape)
    dead = ~keep.any(dim, keepdim=True)
    filled = scores.masked_fill(~keep, float("-inf")).masked_fill(dead, 0.0)
    w = filled.softmax(dim)
    return w.masked_fill(~keep, 0.0)
