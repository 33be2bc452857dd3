# family: core
# mistake: d-out-defaults-to-d-ff
# Without d_out the result is d_ff wide, not d_model.
import torch
import torch.nn.functional as F
from torch import nn


class PositionWiseFFN(nn.Module):
    """dense1, ReLU, dropout, dense2: the same for every token."""

    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        if d_out is None:
            d_out = d_ff  # wrong
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out)
        self.p = dropout

    def forward(self, x):
        hidden = torch.clamp(self.dense1(x), min=0)
        hidden = F.dropout(hidden, p=self.p, training=self.training)
        return self.dense2(hidden)
