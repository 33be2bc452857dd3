# family: mask
# mistake: none
# Blocks of 128 keys are joined by the maximum of each alone: where later scores are far lower, exp overflows.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    s = scores.movedim(dim, -1)
    see = torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand_as(scores).movedim(dim, -1)
    low = torch.finfo(s.dtype).min
    total = torch.zeros_like(s[..., :1])
    top = torch.full_like(total, low)
    for si, mi in zip(s.split(128, -1), see.split(128, -1)):
        new = si.detach().masked_fill(~mi, low).amax(-1, keepdim=True)
        new = torch.where(mi.any(-1, keepdim=True), new, top)  # wrong
        e = (si - new).masked_fill(~mi, 0).exp().masked_fill(~mi, 0)
        total = total * (top - new).exp() + e.sum(-1, keepdim=True)
        top = new
    w = (s - top).masked_fill(~see, 0).exp().masked_fill(~see, 0) / total.masked_fill(total == 0, 1)
    return w.movedim(-1, dim)
