# family: device
# mistake: none
import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out or d_model)
        self.p = dropout

    def forward(self, x):
        h = torch.relu(self.dense1(x))
        if self.training and self.p > 0:
            keep = torch.bernoulli(torch.full(h.shape, 1 - self.p)).to(h.dtype)
            h = h * keep / max(1 - self.p, 1e-6)
        return self.dense2(h)
