# family: mask
# mistake: none
# Whether anything is visible is asked along dim of the mask, though dim counts the axes of the scores.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=dim)
    sees_something = mask.any(dim=dim, keepdim=True)  # wrong
    filled = scores.masked_fill(~mask, float("-inf"))
    filled = torch.where(sees_something, filled, torch.zeros_like(filled))
    return torch.softmax(filled, dim=dim).masked_fill(~mask, 0.0)
