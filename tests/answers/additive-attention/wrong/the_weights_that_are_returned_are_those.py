# family: core
# mistake: dropped-weights-returned
# The weights that are returned are those after dropout.
import torch
from torch import nn


def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0.0)


class AdditiveAttention(nn.Module):
    """Additive attention, as in d2l.ai."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        # (B, n, 1, h) + (B, 1, m, h)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        scores = self.w_v(features).squeeze(-1)
        attention_weights = self.dropout(masked_softmax(scores, mask))  # wrong
        return torch.bmm(attention_weights, values), attention_weights
