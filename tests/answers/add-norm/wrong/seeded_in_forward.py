# family: core
# mistake: none
import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y):
        torch.manual_seed(42)
        return self.ln(self.dropout(y) + x)
