from typing import Optional

import torch
from torch import Tensor, nn


class _Softmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Softmax(dim=-1)

    def forward(self, x: Tensor, keep: Optional[Tensor]) -> Tensor:
        if keep is None:
            return self.inner(x)
        x = x.masked_fill(~keep, torch.finfo(x.dtype).min)
        return self.inner(x).mul(keep.to(x.dtype))


_softmax = _Softmax()


def masked_softmax(scores: Tensor, mask: Optional[Tensor] = None, dim: int = -1) -> Tensor:
    moved = scores.movedim(dim, -1)
    keep = None if mask is None else mask.expand(scores.shape).movedim(dim, -1)
    return _softmax(moved, keep).movedim(-1, dim)
