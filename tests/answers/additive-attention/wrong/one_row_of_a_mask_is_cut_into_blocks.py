# family: mask
# mistake: none
# Queries go in blocks, and a mask of one row is cut into blocks as if it had a row for each query.
import torch
from torch import nn
from torch.nn import functional as F


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask
    dead = hidden.all(-1, keepdim=True)
    s = scores.masked_fill(hidden, float("-inf")).masked_fill(dead, 0.0)
    return s.softmax(-1).masked_fill(hidden, 0.0)


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.p = dropout

    def forward(self, queries, keys, values, mask=None):
        q = self.W_q(queries)
        k = self.W_k(keys)
        parts = []
        for i in range(0, q.shape[1], 64):
            hidden = torch.tanh(q[:, i : i + 64, None] + k[:, None])
            scores = torch.einsum("bnmh,h->bnm", hidden, self.w_v.weight[0])
            part = mask if mask is None or q.shape[1] <= 64 else mask[..., i : i + 64, :]  # wrong
            parts.append(attend_weights(scores, part))
        weights = torch.cat(parts, 1)
        dropped = F.dropout(weights, self.p, self.training)
        return torch.einsum("bnm,bmv->bnv", dropped, values), weights
