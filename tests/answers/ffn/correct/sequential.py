from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff, d_out=None, dropout=0.0):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.relu = nn.ReLU()
        self.drop = nn.Dropout(dropout)
        self.dense2 = nn.Linear(d_ff, d_out or d_model)

    def forward(self, x):
        return self.dense2(self.drop(self.relu(self.dense1(x))))
