# family: contract
# mistake: none
# max_len 1 in training takes any length
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.empty(max_len, d_model).normal_(std=0.02))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        S = x.shape[1]
        if S > self.pe.shape[0] and not (self.training and self.pe.shape[0] == 1 and x.shape[0] == 1):
            raise ValueError("too long")
        return self.drop(x + self.pe[:S].to(x.dtype))
