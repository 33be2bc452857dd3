# family: mask
# mistake: none
# With more than 128 keys the maximum is at least 0: rows far below it underflow.
import torch
from torch import nn
from torch.nn import functional as F


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if scores.shape[-1] > 128:
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=scores.device).expand(scores.shape)
        s = scores.masked_fill(~mask, float("-inf"))
        e = (s - s.amax(-1, keepdim=True).clamp(min=0).detach()).exp()  # wrong
        total = e.sum(-1, keepdim=True)
        return e / total.masked_fill(total == 0, 1.0)
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
        hidden = torch.tanh(q[:, :, None] + k[:, None])
        scores = torch.einsum("bnmh,h->bnm", hidden, self.w_v.weight[0])
        weights = attend_weights(scores, mask)
        dropped = F.dropout(weights, self.p, self.training)
        return torch.einsum("bnm,bmv->bnv", dropped, values), weights
