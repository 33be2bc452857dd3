# family: core
# mistake: none
"""A and B are layers, which have weights, and are none."""
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r")
        self.base = base.requires_grad_(False)
        self.A = nn.Linear(base.in_features, r, bias=False).to(base.weight)
        self.B = nn.Linear(r, base.out_features, bias=False).to(base.weight)
        nn.init.zeros_(self.B.weight)
        self.scale, self.dropout, self.merged = alpha / r, nn.Dropout(dropout), False

    @torch.no_grad()
    def merge(self):
        if not self.merged:
            self.base.weight += self.scale * self.B.weight @ self.A.weight
        self.merged = True

    @torch.no_grad()
    def unmerge(self):
        if self.merged:
            self.base.weight -= self.scale * self.B.weight @ self.A.weight
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        return y if self.merged else y + self.scale * self.B(self.A(self.dropout(x)))
