# family: core
# mistake: merge-without-scale
# Merge adds B A without the factor alpha / r (unmerge takes the same away).
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError("r must be at least 1")
        self.base = base.requires_grad_(False)
        like = dict(dtype=base.weight.dtype, device=base.weight.device)
        self.A = nn.Parameter(torch.empty(r, base.in_features, **like))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.merged = False

    def delta(self) -> Tensor:
        return self.B @ self.A  # wrong

    def forward(self, x: Tensor) -> Tensor:
        result = self.base(x)
        if self.merged:
            return result
        return result + F.linear(F.linear(self.dropout(x), self.A), self.B) * self.scaling

    @torch.no_grad()
    def merge(self) -> None:
        if not self.merged:
            self.base.weight.add_(self.delta())
            self.merged = True

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged:
            self.base.weight.sub_(self.delta())
            self.merged = False
