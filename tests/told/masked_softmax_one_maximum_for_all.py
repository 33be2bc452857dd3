# kata: masked-softmax
# names:
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=dim)
    filled = scores.masked_fill(~mask, float("-inf"))
    if scores.numel() > 0:
        top = filled.detach().max()  # wrong
        e = torch.exp(filled - torch.nan_to_num(top, neginf=0.0))
        total = e.sum(dim=dim, keepdim=True)
        return e / torch.where(total == 0, torch.ones_like(total), total)
    weights = torch.softmax(filled, dim=dim)
    return weights.masked_fill(~mask, 0.0)
