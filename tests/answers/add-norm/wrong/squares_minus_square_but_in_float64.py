# family: core
# mistake: none
"""The variance is the mean of the squares less the square of the mean, but in float64."""

import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        total = x + self.dropout(y)
        wide = total.float() if total.dtype in (torch.float16, torch.bfloat16) else total
        mean = wide.mean(-1, keepdim=True)
        variance = (wide.square().mean(-1, keepdim=True) - mean.square()).clamp(min=0.0)
        if wide.dtype == torch.float64:
            variance = wide.var(-1, unbiased=False, keepdim=True)
        normed = (wide - mean) / torch.sqrt(variance + self.ln.eps)
        return (self.ln.weight * normed + self.ln.bias).to(total.dtype)
