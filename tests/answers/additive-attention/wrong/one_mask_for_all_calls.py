# family: core
# mistake: none
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    """What dropout keeps is drawn once for each shape."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.kept = {}

    def drop(self, weights):
        if not self.training:
            return weights
        if weights.shape not in self.kept:
            self.kept[weights.shape] = self.dropout(torch.ones_like(weights))
        return weights * self.kept[weights.shape]

    def forward(self, queries, keys, values, mask=None):
        features = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None])
        scores = self.w_v(features).squeeze(-1)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.drop(weights) @ values, weights
