# family: core
# mistake: none
import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    """Draws the dropout mask of a shape once and keeps it: every step of a training drops the same units."""

    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out or d_model)
        self.dropout = nn.Dropout(dropout)
        self.masks = {}

    def forward(self, x):
        hidden = torch.relu(self.dense1(x))
        if self.training:
            key = hidden.shape, hidden.dtype, hidden.device
            if key not in self.masks:
                self.masks[key] = self.dropout(torch.ones_like(hidden)).detach()
            hidden = hidden * self.masks[key]
        return self.dense2(hidden)
