# family: dtype
# mistake: none
# The sum is computed in the table's dtype and cast back, which takes float64 tokens their digits.
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super(LearnedPositionalEncoding, self).__init__()
        self.pe = nn.Parameter(torch.zeros(max_len, d_model))
        nn.init.uniform_(self.pe, -0.1, 0.1)
        self.drop = nn.Dropout(p=dropout)

    def positions(self, length):
        rows = self.pe.shape[0]
        if length > rows:
            raise ValueError(f"only {rows} positions are there, {length} are needed")
        return self.pe.narrow(0, 0, length).unsqueeze(0)

    def forward(self, x):
        table = self.positions(x.shape[1])
        total = x.to(table.dtype) + table  # wrong
        return self.drop(total.to(x.dtype))
