# family: core
# mistake: scores-overwritten
# Masks the caller's scores in place.
import torch
from torch import Tensor
import torch.nn.functional as F


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is not None:
        scores.masked_fill_(~mask, -torch.inf)  # wrong
    w = F.softmax(scores, dim=dim)
    return w if mask is None else w.masked_fill(~mask, 0)
