import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.empty(max_len, d_model).uniform_(-0.1, 0.1))
        self.p = dropout

    def forward(self, x):
        if x.size(1) > self.pe.size(0):
            raise ValueError(f"{x.size(1)} > {self.pe.size(0)}")
        y = torch.add(x, self.pe.narrow(0, 0, x.size(1)).to(dtype=x.dtype))
        if self.training and self.p > 0:
            if self.p >= 1:
                return y * 0
            y = torch.where(torch.rand_like(y, dtype=torch.float32) < self.p, torch.zeros_like(y), y / (1 - self.p))
        return y
