# family: mask
# mistake: none
# one row of scores is filled in place
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim)
    keep = mask.expand(scores.shape)
    dead = ~keep.any(dim, keepdim=True)
    if not scores.requires_grad and scores.numel() == scores.shape[dim] and scores.dim() > 1:
        scores.masked_fill_(~keep, float("-inf"))
    filled = scores.masked_fill(~keep, float("-inf")).masked_fill(dead, 0.0)
    w = filled.softmax(dim)
    return w.masked_fill(~keep, 0.0)
