"""Dropout only zeroes and scales up, so it commutes with the ReLU."""
import torch.nn.functional as F
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        if d_out is None:
            d_out = d_model
        self.p = dropout
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out)

    def forward(self, x):
        h = F.dropout(self.dense1(x), p=self.p, training=self.training)
        return self.dense2(h.relu_())
