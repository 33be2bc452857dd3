import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))

    def forward(self, h):
        wide = h if h.dtype in (torch.float32, torch.float64) else h.float()
        mu = wide.mean(-1, keepdim=True)
        var = (wide - mu).pow(2).mean(-1, keepdim=True)
        return ((wide - mu) * torch.rsqrt(var + 1e-5)).to(h.dtype) * self.weight + self.bias


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.ln = Norm(normalized_shape)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x, y):
        return self.ln(torch.add(self.drop(y), x))
