# family: core
# mistake: tanh-of-each
# Tanh of query and key separately, then the sum.
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    """Bahdanau attention, d2l style."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2)) + torch.tanh(keys.unsqueeze(1))  # wrong
        scores = self.w_v(features).squeeze(-1)
        attention_weights = masked_softmax(scores, mask)
        return torch.bmm(self.dropout(attention_weights), values), attention_weights


def masked_softmax(scores, mask):
    if mask is None:
        return nn.functional.softmax(scores, dim=-1)
    hidden = ~mask
    w = nn.functional.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
    return w.masked_fill(hidden, 0)
