# family: core
# mistake: none
# Keys that no query sees are looked for, not queries that see no key: the axis is wrong.
import torch
import torch.nn.functional as F
from torch import nn

NEG_INF = float("-inf")


def project(d_in, d_out, bias):
    return nn.Linear(d_in, d_out, bias=bias)


def soft_weights(scores, mask):
    if mask is None:
        return F.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    unseen = ~mask.any(dim=-2, keepdim=True)  # wrong
    scores = scores.masked_fill(~mask, NEG_INF)
    scores = scores.masked_fill(unseen, 0.0)
    return F.softmax(scores, dim=-1).masked_fill(~mask, 0.0)


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_context = d_context if d_context is not None else d_model
        self.d_k = d_k
        self.W_q = project(d_model, d_k, bias)
        self.W_k = project(d_context, d_k, bias)
        self.W_v = project(d_context, d_v if d_v is not None else d_k, bias)

    def forward(self, x_q, x_kv, mask=None):
        queries, keys, values = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        scores = queries @ keys.mT / self.d_k**0.5
        weights = soft_weights(scores, mask)
        return weights @ values, weights
