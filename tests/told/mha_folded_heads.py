# kata: mha
# names: mask-repeated-in-blocks
import math
import torch
from torch import nn


def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads do not divide the width")
        self.num_heads = n_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, q, k, v, mask=None):
        queries = transpose_qkv(self.W_q(q), self.num_heads)
        keys = transpose_qkv(self.W_k(k), self.num_heads)
        values = transpose_qkv(self.W_v(v), self.num_heads)
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        if mask is not None:
            if mask.dim() == 4:
                mask = mask.expand(q.shape[0], self.num_heads, q.shape[1], k.shape[1]).flatten(0, 1)
            elif mask.dim() == 3:
                mask = mask.expand(q.shape[0], q.shape[1], k.shape[1]).repeat(self.num_heads, 1, 1)  # wrong
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        output = torch.bmm(self.dropout(weights), values)
        output = transpose_output(output, self.num_heads)
        return self.W_o(output), weights.reshape(q.shape[0], self.num_heads, q.shape[1], -1)
