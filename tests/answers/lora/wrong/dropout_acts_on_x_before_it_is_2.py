# family: core
# mistake: none
# Dropout acts on x before it is shared out, so the base does not see all of it in training.
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r < 1")
        # the layer as it is, nothing in it is trained
        for p in base.parameters():
            p.requires_grad = False
        self.base = base
        self.r = r
        self.alpha = alpha
        W = base.weight
        self.A = nn.Parameter(W.new_empty(r, W.shape[1]))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.B = nn.Parameter(W.new_zeros(W.shape[0], r))
        self.drop = nn.Dropout(dropout)
        self.is_merged = False

    def delta(self):
        return (self.alpha / self.r) * (self.B @ self.A)

    def forward(self, x):
        if self.is_merged:
            return self.base(x)
        x = self.drop(x)  # wrong
        main = self.base(x)
        side = (x @ self.A.T) @ self.B.T
        return main + side * (self.alpha / self.r)

    def merge(self):
        if self.is_merged:
            return
        with torch.no_grad():
            self.base.weight += self.delta()
        self.is_merged = True

    def unmerge(self):
        if not self.is_merged:
            return
        with torch.no_grad():
            self.base.weight -= self.delta()
        self.is_merged = False
