import torch
import torch.nn.functional as F
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.pe = nn.Parameter(torch.zeros(max_len, d_model))
        self.register_buffer("position_ids", torch.arange(max_len))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seq_len = x.shape[1]
        if seq_len > self.max_len:
            raise ValueError(f"sequence length {seq_len} exceeds max_len {self.max_len}")
        out = x + F.embedding(self.position_ids[:seq_len], self.pe).unsqueeze(0)
        return self.dropout(out).to(x.dtype)
