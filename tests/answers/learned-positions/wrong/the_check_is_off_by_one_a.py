# family: core
# mistake: length-off-by-one
# The check is off by one: a sequence of exactly max_len tokens fits, but raises ValueError.
import torch
import torch.nn as nn


class LearnedPositionalEncoding(nn.Module):

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.size()
        if T >= self.pe.size(0):  # wrong
            raise ValueError(f"cannot forward a sequence of length {T}, the table has {self.pe.size(0)} rows")
        pos_emb = self.pe[:T] # (T, C)
        return self.drop((x + pos_emb).to(x.dtype))
