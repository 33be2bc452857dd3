import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model if d_out is None else d_out)
        self.dropout = dropout

    def forward(self, x):
        h = torch.einsum("...i,fi->...f", x, self.dense1.weight) + self.dense1.bias
        h = torch.where(h > 0, h, torch.zeros_like(h))
        if self.training and self.dropout > 0:
            keep = torch.rand(h.shape, device=h.device) >= self.dropout
            h = h * keep.to(h.dtype) * (1 / (1 - self.dropout) if self.dropout < 1 else 0)
        return torch.einsum("...f,of->...o", h, self.dense2.weight) + self.dense2.bias
