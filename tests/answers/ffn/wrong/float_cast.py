# family: dtype
# mistake: none
import torch
from torch import nn
from torch.nn import functional as F


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out or d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        h = torch.relu(F.linear(x.float(), self.dense1.weight.float(), self.dense1.bias.float()))
        return F.linear(self.dropout(h), self.dense2.weight.float(), self.dense2.bias.float()).to(x.dtype)
