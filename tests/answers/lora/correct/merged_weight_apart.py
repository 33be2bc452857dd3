"""The base is never touched: a merged weight stands beside it."""
import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r must be 1 or more")
        self.base = base
        for parameter in self.base.parameters():
            parameter.requires_grad = False
        out, into = base.weight.shape
        options = dict(device=base.weight.device, dtype=base.weight.dtype)
        self.A = nn.Parameter(torch.rand(r, into, **options) - 0.5)
        self.B = nn.Parameter(torch.zeros(out, r, **options))
        self.alpha, self.r = alpha, r
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("both", None, persistent=False)

    def merge(self):
        with torch.no_grad():
            self.both = self.base.weight + self.B @ self.A * self.alpha / self.r

    def unmerge(self):
        self.both = None

    def forward(self, x):
        if self.both is not None:
            return F.linear(x, self.both, self.base.bias)
        low = torch.einsum("...i,ri->...r", self.dropout(x), self.A)
        return self.base(x) + torch.einsum("...r,or->...o", low, self.B) * self.alpha / self.r
