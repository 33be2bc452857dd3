# family: mask
# mistake: none
# fills with -1e9 where dim is counted from the front
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim)
    keep = mask.expand(scores.shape)
    dead = ~keep.any(dim, keepdim=True)
    filled = scores.masked_fill(~keep, (float("-inf") if dim < 0 else -6e4 if scores.dtype == torch.float16 else -1e9)).masked_fill(dead, 0.0)
    w = filled.softmax(dim)
    return w.masked_fill(~keep, 0.0)
