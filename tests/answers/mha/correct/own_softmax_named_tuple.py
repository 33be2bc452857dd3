from collections import namedtuple

import torch
from torch import nn

AttentionOutput = namedtuple("AttentionOutput", "output weights")


class KeepSoftmax(nn.Module):
    def forward(self, x, keep=None):
        if keep is None:
            keep = torch.ones((), dtype=torch.bool, device=x.device)
        top = x.masked_fill(~keep, torch.finfo(x.dtype).min).amax(-1, keepdim=True)
        e = torch.exp((x - top).masked_fill(~keep, float("-inf")))
        total = e.sum(-1, keepdim=True)
        return e / total.masked_fill(total == 0, 1.0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError
        self.n_heads = n_heads
        self.softmax = KeepSoftmax()
        self.drop = nn.Dropout(dropout)
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.register_buffer("scale", torch.tensor((d_model // n_heads) ** -0.5), persistent=False)

    def forward(self, q, k, v, mask=None):
        split = lambda x: torch.stack(x.chunk(self.n_heads, dim=-1), dim=1)
        q, k, v = split(self.W_q(q)), split(self.W_k(k)), split(self.W_v(v))
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(-3)
        weights = self.softmax(q @ k.transpose(-1, -2) * (q.size(-1) ** -0.5), mask)
        out = self.drop(weights) @ v
        return AttentionOutput(self.W_o(torch.cat(out.unbind(1), dim=-1)), weights)
