# family: core
# mistake: none
# The maximum of all rows is taken off: a row far below it has no probabilities left.
import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits
    z = logits.to(torch.promote_types(logits.dtype, torch.float32))
    e = (z - z.max()).exp()  # wrong
    probs = e / e.sum(-1, keepdim=True).clamp_min(1e-30)
    order = logits.argsort(dim=-1, descending=True, stable=True)
    sorted_probs = probs.gather(-1, order)
    keep = sorted_probs.cumsum(-1) - sorted_probs < p
    keep[..., 0] = True
    keep = torch.zeros_like(keep).scatter(-1, order, keep)
    return logits.masked_fill(~keep, -torch.inf)
