# family: dtype
# mistake: none
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        q = queries.float() @ self.W_q.weight.float().t()
        k = keys.float() @ self.W_k.weight.float().t()
        scores = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ self.w_v.weight.float()[0]
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        output = self.dropout(weights) @ values.float()
        return output.to(queries.dtype), weights.to(queries.dtype)
