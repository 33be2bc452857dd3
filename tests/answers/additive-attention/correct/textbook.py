import torch
from torch import nn


def masked_softmax(X, mask):
    if mask is None:
        return nn.functional.softmax(X, dim=-1)
    w = nn.functional.softmax(X.masked_fill(mask.logical_not(), float("-inf")), dim=-1)
    return w.nan_to_num(nan=0.0)


class AdditiveAttention(nn.Module):
    """Additive attention."""

    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0, **kwargs):
        super(AdditiveAttention, self).__init__(**kwargs)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = queries.unsqueeze(2) + keys.unsqueeze(1)
        features = torch.tanh(features)
        scores = self.w_v(features).squeeze(-1)
        self.attention_weights = masked_softmax(scores, mask)
        return torch.bmm(self.dropout(self.attention_weights), values), self.attention_weights
