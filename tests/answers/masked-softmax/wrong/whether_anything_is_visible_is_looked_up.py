# family: mask
# mistake: none
# Whether anything is visible is looked up along the last axis instead of along dim.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=dim)
    keep = mask.expand(scores.shape)
    some = keep.any(dim=-1, keepdim=True)  # wrong
    # rows that see nothing get a harmless softmax over zeros first, and are wiped afterwards
    safe = scores.masked_fill(~keep, float("-inf")).masked_fill(~some, 0.0)
    return torch.softmax(safe, dim=dim).masked_fill(~(keep & some), 0.0)
