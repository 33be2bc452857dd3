# family: core
# mistake: tokens-scaled
# The tokens are multiplied by sqrt(d_model) before the sum, where both go into it as they are.
import math

import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    "Implement the PE function with a trained table."

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.d_model = d_model
        self.pe = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.pe, std=0.02)

    def forward(self, x):
        if x.size(1) > self.pe.size(0):
            raise ValueError("the sequence is longer than the table")
        y = x * math.sqrt(self.d_model) + self.pe[: x.size(1)]  # wrong
        return self.dropout(y.to(x.dtype))
