import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    """One key after the other, with a running maximum and a running sum, as flash attention does."""

    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        q = self.W_q(x_q) / math.sqrt(self.W_q.out_features)
        k, v = self.W_k(x_kv), self.W_v(x_kv)
        batch, n, m = q.size(0), q.size(1), k.size(1)
        visible = torch.ones(batch, n, m, dtype=torch.bool, device=q.device)
        if mask is not None:
            visible = visible & mask
        highest = q.new_full((batch, n, 1), -torch.inf)
        total = q.new_zeros(batch, n, 1)
        output = q.new_zeros(batch, n, v.size(-1))
        scores = []
        for j in range(m):
            score = (q * k[:, j : j + 1]).sum(-1, keepdim=True)
            seen = visible[..., j : j + 1]
            scores.append(score)
            higher = torch.maximum(highest, score.detach().masked_fill(~seen, -torch.inf))
            level = higher.masked_fill(higher == -torch.inf, 0.0)
            shrink = torch.exp(highest - level)
            part = torch.exp((score - level).masked_fill(~seen, -torch.inf))
            total = total * shrink + part
            output = output * shrink + part * v[:, j : j + 1]
            highest = higher.detach()
        level = highest.masked_fill(highest == -torch.inf, 0.0)
        total = torch.where(total == 0, torch.ones_like(total), total)
        raw = (torch.cat(scores, -1) - level).masked_fill(~visible, -torch.inf)
        return output / total, torch.exp(raw) / total
