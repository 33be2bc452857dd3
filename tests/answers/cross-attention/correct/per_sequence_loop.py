import math

import torch
from torch import nn


def one_sequence(q, k, v, keep):
    scores = q @ k.T / math.sqrt(k.shape[1])
    scores = scores - scores.masked_fill(~keep, torch.finfo(scores.dtype).min).amax(1, keepdim=True).detach()
    weights = torch.exp(scores.masked_fill(~keep, -math.inf))
    total = weights.sum(1, keepdim=True)
    weights = weights / torch.where(total > 0, total, torch.ones_like(total))
    return weights @ v, weights


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        width = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(width, d_k, bias=bias)
        self.W_v = nn.Linear(width, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        n, m = x_q.size(1), x_kv.size(1)
        if mask is None:
            mask = torch.ones(1, n, m, dtype=torch.bool, device=x_q.device)
        keep = mask.expand(x_q.size(0), n, m)
        pairs = [
            one_sequence(self.W_q(a), self.W_k(c), self.W_v(c), keep[b]) for b, (a, c) in enumerate(zip(x_q, x_kv))
        ]
        outputs, weights = zip(*pairs)
        return torch.stack(outputs), torch.stack(weights)
