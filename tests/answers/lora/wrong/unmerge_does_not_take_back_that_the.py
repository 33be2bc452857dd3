# family: core
# mistake: stays-merged
# Unmerge() does not take back that the layer is merged, so the side path is lost behind it.
"""A linear layer with a low-rank path beside it."""

import torch
import torch.nn.functional as F
from torch import nn


def low_rank(x, A, B):
    return F.linear(F.linear(x, A), B)


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("LoRA needs r >= 1")
        self.base = base.requires_grad_(False)
        self.factor = alpha / r
        self.p = dropout
        out_features, in_features = base.weight.shape
        self.A = nn.Parameter(torch.empty(r, in_features, dtype=base.weight.dtype, device=base.weight.device))
        self.B = nn.Parameter(torch.zeros(out_features, r, dtype=base.weight.dtype, device=base.weight.device))
        nn.init.normal_(self.A, std=1 / r)
        self.merged = False

    def forward(self, x):
        out = F.linear(x, self.base.weight, self.base.bias)
        if self.merged:
            return out
        dropped = F.dropout(x, p=self.p, training=self.training)
        return out + self.factor * low_rank(dropped, self.A, self.B)

    def merge(self):
        if self.merged:
            return
        self.base.weight.data += self.factor * (self.B.data @ self.A.data)
        self.merged = True

    def unmerge(self):
        if not self.merged:
            return
        self.base.weight.data -= self.factor * (self.B.data @ self.A.data)  # wrong
