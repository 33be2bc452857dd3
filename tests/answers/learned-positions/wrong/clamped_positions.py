# family: contract
# mistake: none
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    """Everything behind the table shares its last row."""

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device).clamp(max=self.max_len - 1)
        return self.dropout(x + self.pe[positions].to(x.dtype))
