# family: dtype
# mistake: none
"""Copies the base's weights into attributes that no module knows: nothing moves, saves or loads them."""
import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r")
        self.weight = base.weight.detach().clone()
        self.bias = None if base.bias is None else base.bias.detach().clone()
        self.A = nn.Parameter(torch.randn_like(self.weight[:1].expand(r, -1)))
        self.B = nn.Parameter(self.weight.new_zeros(base.out_features, r))
        self.scale, self.dropout, self.merged = alpha / r, nn.Dropout(dropout), False

    @torch.no_grad()
    def merge(self):
        if not self.merged:
            self.weight += self.scale * self.B @ self.A
        self.merged = True

    @torch.no_grad()
    def unmerge(self):
        if self.merged:
            self.weight -= self.scale * self.B @ self.A
        self.merged = False

    def forward(self, x):
        y = F.linear(x, self.weight, self.bias)
        return y if self.merged else y + self.scale * (self.dropout(x) @ self.A.T @ self.B.T)
