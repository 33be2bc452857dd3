# family: core
# mistake: none
import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out or d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        h = torch.relu(self.dense1(x))
        gate = self.dropout(torch.ones(h.shape[-1], dtype=h.dtype, device=h.device))
        return self.dense2(h * gate)
