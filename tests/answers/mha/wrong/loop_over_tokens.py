# family: cost
# mistake: loop-over-queries
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def heads(self, x):
        return x.view(x.size(0), -1, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.heads(self.W_q(q)), self.heads(self.W_k(k)), self.heads(self.W_v(v))
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            mask = mask.expand(q.size(0), self.n_heads, q.size(2), k.size(2))
        contexts, rows = [], []
        for i in range(q.size(2)):
            scores = (k @ q[:, :, i].unsqueeze(-1)).squeeze(-1) / math.sqrt(self.d_head)
            if mask is not None:
                scores = scores.masked_fill(~mask[:, :, i], float("-inf"))
            row = torch.softmax(scores, dim=-1)
            if mask is not None:
                row = row.masked_fill(~mask[:, :, i], 0.0)
            rows.append(row)
            contexts.append((self.dropout(row).unsqueeze(2) @ v).squeeze(2))
        x = torch.stack(contexts, dim=2).transpose(1, 2).flatten(2)
        return self.W_o(x), torch.stack(rows, dim=2)
