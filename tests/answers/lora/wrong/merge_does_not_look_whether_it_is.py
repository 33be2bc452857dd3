# family: core
# mistake: merged-twice
# Merge does not look whether it is merged already: a second call adds the side path once more.
import torch
import torch.nn as nn


class LoRALinear(nn.Module):

    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError(f"r={r}")
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(base.weight.new_empty(r, base.in_features).normal_(std=r ** -0.5))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        self.scale = alpha / r
        self.drop = nn.Dropout(dropout)
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        if not self.merged:
            h = torch.einsum("...i,ri->...r", self.drop(x), self.A) # (..., r)
            y = y + torch.einsum("...r,or->...o", h, self.B) * self.scale
        return y

    def merge(self):
        with torch.no_grad():
            self.base.weight += self.scale * self.B @ self.A  # wrong
        self.merged = True

    def unmerge(self):
        if self.merged:
            with torch.no_grad():
                self.base.weight -= self.scale * self.B @ self.A
            self.merged = False
