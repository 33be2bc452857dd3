"""The base's weights are buffers, A is scaled once, the old weight is kept while merged."""
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0):
        super().__init__()
        if r < 1:
            raise ValueError(f"no rank {r}")
        self.register_buffer("W", base.weight.data.clone())
        self.register_buffer("b", None if base.bias is None else base.bias.data.clone())
        out_features, in_features = self.W.shape
        self.A = nn.Parameter(torch.randn(r, in_features).to(self.W) * 0.02)
        self.B = nn.Parameter(torch.zeros(out_features, r).to(self.W))
        self.s = alpha / r
        self.drop = nn.Dropout(dropout)
        self.register_buffer("before", None, persistent=False)

    @torch.no_grad()
    def merge(self):
        if self.before is None:
            self.before = self.W.clone()
            self.W += self.s * self.B @ self.A

    @torch.no_grad()
    def unmerge(self):
        if self.before is not None:
            self.W.copy_(self.before)
            self.before = None

    def forward(self, x):
        y = x @ self.W.T
        if self.b is not None:
            y = y + self.b
        if self.before is not None:
            return y
        return y + self.drop(x) @ (self.s * self.A).T @ self.B.T
