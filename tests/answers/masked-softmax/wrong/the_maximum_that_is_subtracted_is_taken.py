# family: mask
# mistake: renormalised-after
# The maximum that is subtracted is taken over all scores, the hidden ones included.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    """exp(s - max) / sum exp(s - max), written out."""
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    mask = mask.expand(scores.shape)

    lowest = torch.finfo(scores.dtype).min
    only_visible = scores.masked_fill(~mask, lowest)
    largest = scores.amax(dim=dim, keepdim=True).detach()  # wrong

    shifted = only_visible - largest
    shifted = shifted.masked_fill(~mask, 0.0)
    exponentials = shifted.exp().masked_fill(~mask, 0.0)
    total = exponentials.sum(dim=dim, keepdim=True)
    nothing = total == 0
    return exponentials / total.masked_fill(nothing, 1.0)
