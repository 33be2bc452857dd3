# family: cost
# mistake: product-first
"""In evaluation multiplies B with A wherever that seems smaller than r times both widths."""
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"r must be at least 1, got {r}")
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.empty(r, base.in_features, **like))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.merged = False

    def forward(self, x: Tensor) -> Tensor:
        if self.merged:
            return self.base(x)
        r, width_in = self.A.shape
        width_out = self.B.shape[0]
        if not self.training and r * (width_in + width_out) > width_in * width_out:
            return F.linear(x, self.base.weight + self.B @ self.A * self.scaling, self.base.bias)
        out = self.base(x)
        return out + F.linear(F.linear(self.dropout(x), self.A), self.B) * self.scaling

    @torch.no_grad()
    def merge(self) -> None:
        if not self.merged:
            self.base.weight.add_(self.B @ self.A * self.scaling)
            self.merged = True

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged:
            self.base.weight.sub_(self.B @ self.A * self.scaling)
            self.merged = False
