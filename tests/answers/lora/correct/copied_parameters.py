"""Weight and bias of the base are copied into frozen parameters."""
import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r <= 0:
            raise ValueError("r must be positive")
        self.weight = nn.Parameter(base.weight.detach().clone(), requires_grad=False)
        self.bias = None
        if base.bias is not None:
            self.bias = nn.Parameter(base.bias.detach().clone(), requires_grad=False)
        self.A = nn.Parameter(torch.empty_like(self.weight[:1]).expand(r, -1).clone())
        self.B = nn.Parameter(self.weight.new_zeros(self.weight.size(0), r))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)
        self.alpha, self.r, self.p = alpha, r, dropout
        self.merged = False

    def delta(self):
        return (self.alpha / self.r) * (self.B.detach() @ self.A.detach())

    def merge(self):
        if self.merged:
            return
        self.weight.add_(self.delta())
        self.merged = True

    def unmerge(self):
        if not self.merged:
            return
        self.weight.sub_(self.delta())
        self.merged = False

    def forward(self, x):
        y = F.linear(x, self.weight, self.bias)
        if not self.merged:
            side = F.linear(F.linear(F.dropout(x, self.p, self.training), self.A), self.B)
            y = y + side * (self.alpha / self.r)
        return y
