# family: mask
# mistake: none
# With more than 512 keys blocks are joined with a running maximum that begins at 0.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    x = scores.movedim(dim, -1)
    see = torch.ones_like(x, dtype=torch.bool) if mask is None else mask.broadcast_to(scores.shape).movedim(dim, -1)
    x = torch.where(see, x, 0)
    peak = torch.where(see, x, -torch.inf).amax(-1, keepdim=True).detach()
    peak = torch.where(see.any(-1, keepdim=True), peak, 0)
    if x.shape[-1] > 512:
        peak = peak.clamp(min=0)  # wrong
    e = torch.where(see, x - peak, -torch.inf).exp()
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1)).movedim(-1, dim)
