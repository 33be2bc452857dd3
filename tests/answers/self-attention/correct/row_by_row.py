import torch
from torch import nn


class SelfAttention(nn.Module):
    """Slow and obvious: for each query, pick the visible keys and average their values."""

    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.d_k, self.d_v = d_k, (d_v or d_k)
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, self.d_v, bias=bias)

    def forward(self, x, mask=None):
        B, S, _ = x.shape
        if mask is None:
            mask = x.new_ones((B, S, S), dtype=torch.bool)
        mask = mask.expand(B, S, S)
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = x.new_zeros(B, S, S)
        output = x.new_zeros(B, S, self.d_v)
        for b in range(B):
            for i in range(S):
                seen = mask[b, i].nonzero().squeeze(-1)
                if len(seen) == 0:
                    continue
                score = (k[b, seen] * q[b, i]).sum(-1) / self.d_k**0.5
                row = torch.softmax(score, dim=0)
                weights[b, i, seen] = row
                output[b, i] = row @ v[b, seen]
        return output, weights
