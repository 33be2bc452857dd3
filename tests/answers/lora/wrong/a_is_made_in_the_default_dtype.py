# family: core
# mistake: default-dtype
# A is made in the default dtype and on the CPU, not as the base is.
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("rank must be positive")
        self.base = base
        for param in base.parameters():
            param.requires_grad = False
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.01)  # wrong
        self.B = nn.Parameter(torch.zeros_like(base.weight[:, :1]).repeat(1, r))
        self.dropout = nn.Dropout(p=dropout)
        self.s = alpha / r
        self.merged = False

    def forward(self, x):
        result = self.base(x)
        if self.merged:
            return result
        side = self.dropout(x)
        side = side @ self.A.transpose(0, 1)
        side = side @ self.B.transpose(0, 1)
        return result + self.s * side

    @torch.no_grad()
    def _shift(self, sign):
        self.base.weight.data += sign * self.s * (self.B @ self.A)

    def merge(self):
        if not self.merged:
            self._shift(+1)
            self.merged = True

    def unmerge(self):
        if self.merged:
            self._shift(-1)
            self.merged = False
