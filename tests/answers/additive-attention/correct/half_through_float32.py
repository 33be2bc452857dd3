import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        dtype = queries.dtype
        wide = torch.promote_types(dtype, torch.float32)
        q = queries.to(wide) @ self.W_q.weight.to(wide).T
        k = keys.to(wide) @ self.W_k.weight.to(wide).T
        scores = (torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) * self.w_v.weight.to(wide)).sum(-1)
        if mask is not None:
            hidden = mask.logical_not().expand(scores.shape)
            scores = scores.clone()
            scores[hidden] = float("-inf")
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = torch.where(hidden, torch.zeros((), dtype=wide, device=weights.device), weights)
        return (self.drop(weights) @ values.to(wide)).to(dtype), weights.to(dtype)
