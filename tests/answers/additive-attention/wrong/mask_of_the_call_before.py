# family: core
# mistake: none
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    """The mask is prepared once, for as long as the scores have one shape."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.hidden = None

    def forward(self, queries, keys, values, mask=None):
        features = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None])
        scores = self.w_v(features).squeeze(-1)
        if mask is not None:
            self.hidden = ~mask.expand_as(scores)
        if self.hidden is None or self.hidden.shape != scores.shape:
            self.hidden = torch.zeros_like(scores, dtype=torch.bool)
        weights = scores.masked_fill(self.hidden, float("-inf")).softmax(-1).masked_fill(self.hidden, 0.0)
        return self.dropout(weights) @ values, weights
