# family: core
# mistake: dropout-in-evaluation
# The dropout is made anew in each call, and a new module is in training mode, in evaluation too.
import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super(PositionWiseFFN, self).__init__()
        self.dropout_rate = dropout
        self.dense1 = nn.Linear(in_features=d_model, out_features=d_ff)
        if d_out is None:
            self.dense2 = nn.Linear(in_features=d_ff, out_features=d_model)
        else:
            self.dense2 = nn.Linear(in_features=d_ff, out_features=d_out)

    def forward(self, x):
        # into the hidden layer
        hidden = self.dense1(x)
        # off below 0
        hidden = torch.relu(hidden)
        # some units are left out
        hidden = nn.Dropout(self.dropout_rate)(hidden)  # wrong
        # and out again
        return self.dense2(hidden)
