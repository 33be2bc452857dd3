"""Rows of tokens, and a sum that knows the scale."""
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r < 1")
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(r, base.in_features).to(base.weight))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        self.scale, self.p, self.merged = alpha / r, dropout, False

    @torch.no_grad()
    def merge(self):
        if not self.merged:
            self.base.weight.addmm_(self.B, self.A, alpha=self.scale)
            self.merged = True

    @torch.no_grad()
    def unmerge(self):
        if self.merged:
            self.base.weight.addmm_(self.B, self.A, alpha=-self.scale)
            self.merged = False

    def forward(self, x):
        result = self.base(x)
        if self.merged:
            return result
        rows = x.reshape(-1, x.size(-1))
        rows = nn.functional.dropout(rows, self.p, self.training)
        side = torch.mm(torch.mm(rows, self.A.t()), self.B.t())
        return torch.add(result, side.view_as(result), alpha=self.scale)
