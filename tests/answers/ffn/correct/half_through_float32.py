import torch
import torch.nn.functional as F
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out if d_out else d_model)
        self.p = dropout

    def forward(self, x):
        work = torch.promote_types(x.dtype, torch.float32)
        h = F.linear(x.to(work), self.dense1.weight.to(work), self.dense1.bias.to(work))
        h = F.dropout(F.relu(h), self.p, self.training)
        return F.linear(h, self.dense2.weight.to(work), self.dense2.bias.to(work)).to(x.dtype)
