# family: core
# mistake: dropout-on-the-result
# Dropout is applied to the result of dense2, not to the hidden units behind the ReLU.
import torch.nn as nn
from torch import Tensor


class PositionWiseFFN(nn.Module):

    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(d_ff, d_model if d_out is None else d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = self.dense1(x)
        x = self.relu(x)
        x = self.dense2(x)
        x = self.dropout(x)  # wrong
        return x
