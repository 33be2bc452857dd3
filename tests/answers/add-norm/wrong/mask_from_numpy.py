# family: device
# mistake: mask-on-the-cpu
import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        keep = torch.ones(y.shape, dtype=y.dtype)
        if self.training and self.p > 0:
            keep = (torch.rand(y.shape) > self.p).to(y.dtype) / (1 - self.p) if self.p < 1 else keep * 0
        return self.ln(x + y * keep)
