import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout, inplace=True)
        self.pe = nn.Parameter(torch.nn.init.trunc_normal_(torch.empty(max_len, d_model), std=0.02))

    def check(self, length):
        if length > self.pe.shape[0]:
            raise ValueError("max_len")
        return length

    def forward(self, x):
        used, _ = self.pe.split([self.check(x.shape[1]), self.pe.shape[0] - x.shape[1]])
        out = x.clone()
        out += used.to(x.dtype)
        return self.dropout(out)
