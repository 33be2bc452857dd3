# family: core
# mistake: none
"""A is (in, r) and B (r, out), as tokens from the left would like it."""
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r")
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(base.in_features, r).to(base.weight))
        self.B = nn.Parameter(torch.zeros(r, base.out_features).to(base.weight))
        self.scale, self.dropout, self.merged = alpha / r, nn.Dropout(dropout), False

    @torch.no_grad()
    def merge(self):
        if not self.merged:
            self.base.weight += self.scale * (self.A @ self.B).T
        self.merged = True

    @torch.no_grad()
    def unmerge(self):
        if self.merged:
            self.base.weight -= self.scale * (self.A @ self.B).T
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        return y if self.merged else y + self.scale * (self.dropout(x) @ self.A @ self.B)
