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
        self.norm = nn.LayerNorm(d_out or d_model)

    def forward(self, x):
        y = self.dense2(self.dropout(torch.relu(self.dense1(x))))
        return self.norm(x + y) if y.shape == x.shape else self.norm(y)
