# family: core
# mistake: none
# Dropout acts on the positions alone, before the sum.
import torch
import torch.nn.functional as F
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    """A table of positions, as in BERT and GPT-2."""

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.pe = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.pe, std=0.02)

    def forward(self, x):
        S = x.size(1)
        if S > self.pe.size(0):
            raise ValueError("the sequence is longer than the table")
        # look up rows 0 ... S - 1
        where = torch.arange(S, device=x.device).expand(x.size(0), S)
        positions = F.embedding(where, self.pe).to(x.dtype)
        positions = F.dropout(positions, self.p, self.training)  # wrong
        return x + positions
