# family: core
# mistake: merged-twice
# A second merge adds the product once more.
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("need r >= 1")
        self.base = base
        self.base.weight.requires_grad = False
        if self.base.bias is not None:
            self.base.bias.requires_grad = False
        kw = dict(dtype=base.weight.dtype, device=base.weight.device)
        self.A = nn.Parameter(torch.randn(r, base.in_features, **kw) / r)
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **kw))
        self.drop = nn.Dropout(dropout)
        self.scale = alpha / r
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        if not self.merged:
            z = torch.einsum("...i,ri->...r", self.drop(x), self.A)
            y = y + self.scale * torch.einsum("...r,or->...o", z, self.B)
        return y

    def merge(self):
        with torch.no_grad():  # wrong
            self.base.weight.add_(self.B @ self.A, alpha=self.scale)
        self.merged = True

    def unmerge(self):
        if self.merged:
            with torch.no_grad():
                self.base.weight.sub_(self.B @ self.A, alpha=self.scale)
            self.merged = False
