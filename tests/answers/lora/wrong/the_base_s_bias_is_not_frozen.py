# family: core
# mistake: bias-trained
# The base's bias is not frozen.
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r < 1")
        self.base = base
        self.base.weight.requires_grad_(False)  # wrong
        W = self.base.weight
        self.A = nn.Parameter(torch.empty(r, W.shape[1], dtype=W.dtype, device=W.device).normal_(std=0.02))
        self.B = nn.Parameter(torch.zeros(W.shape[0], r, dtype=W.dtype, device=W.device))
        self.factor = alpha / r
        self.lora_dropout = nn.Dropout(dropout)
        self.merged = False

    def forward(self, x):
        if self.merged:
            return self.base(x)
        return self.base(x) + self.factor * ((self.lora_dropout(x) @ self.A.t()) @ self.B.t())

    def merge(self):
        if self.merged:
            return
        with torch.no_grad():
            self.base.weight.copy_(self.base.weight + self.factor * self.B @ self.A)
        self.merged = True

    def unmerge(self):
        if not self.merged:
            return
        with torch.no_grad():
            self.base.weight.copy_(self.base.weight - self.factor * self.B @ self.A)
        self.merged = False
