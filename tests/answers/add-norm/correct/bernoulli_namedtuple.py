from typing import NamedTuple

import torch
from torch import nn


class Moments(NamedTuple):
    mean: torch.Tensor
    var: torch.Tensor


def moments(h):
    var, mean = torch.var_mean(h, dim=-1, correction=0, keepdim=True)
    return Moments(mean, var)


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.keep = 1.0 - dropout

    def forward(self, x, y):
        if self.training and self.keep < 1:
            gate = torch.bernoulli(torch.full_like(y, self.keep))
            y = gate.mul(y).div(self.keep if self.keep > 0 else 1.0)
        h = x + y
        m = moments(h.float() if h.dtype == torch.float16 else h)  # squares of a thousand are beyond float16
        normed = ((h - m.mean) / (m.var + self.ln.eps).sqrt()).to(h.dtype)
        return torch.addcmul(self.ln.bias, normed, self.ln.weight)
