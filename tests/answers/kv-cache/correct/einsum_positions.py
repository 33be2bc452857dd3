import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        self.h = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        q, k, v = (w(x).unflatten(-1, (self.h, -1)).movedim(2, 1) for w in (self.W_q, self.W_k, self.W_v))
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            k = torch.cat((cache[0], k), -2)
            v = torch.cat((cache[1], v), -2)
        q_pos = past + torch.arange(x.shape[1], device=x.device)
        k_pos = torch.arange(k.shape[2], device=x.device)
        allowed = (k_pos[None, :] <= q_pos[:, None])[None, None]
        if padding_mask is not None:
            allowed = torch.logical_and(allowed, padding_mask[:, None, None])
        s = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
        s = torch.where(allowed, s, torch.finfo(s.dtype).min)
        p = torch.where(allowed, s.softmax(-1), 0.0)
        out = torch.einsum("bhqk,bhkd->bqhd", p, v)
        return self.W_o(out.reshape(x.shape)), (k, v)
