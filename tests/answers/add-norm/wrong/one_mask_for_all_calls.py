# family: core
# mistake: none
import torch
from torch import nn


class AddNorm(nn.Module):
    """The dropout mask is drawn once and kept."""

    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)
        self.mask = None

    def forward(self, x, y):
        if self.training and self.p == 1:
            y = torch.zeros_like(y)
        elif self.training and self.p > 0:
            if self.mask is None or self.mask.shape != y.shape:
                self.mask = (torch.rand_like(y) >= self.p).to(y.dtype) / (1 - self.p)
            y = y * self.mask
        return self.ln(x + y)
