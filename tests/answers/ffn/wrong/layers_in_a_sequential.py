# family: core
# mistake: none
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_out or d_model)
        )

    def forward(self, x):
        return self.net(x)
