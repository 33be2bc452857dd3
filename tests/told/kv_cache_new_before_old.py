# kata: kv-cache
# names: new-before-old
import math
import torch
import torch.nn.functional as F
from torch import nn

class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads")
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, D = x.shape
        split = lambda t: t.view(B, n, self.h, self.d).transpose(1, 2)
        q, k, v = split(self.W_q(x)), split(self.W_k(x)), split(self.W_v(x))
        if cache is not None:
            k = torch.cat([k, cache[0]], dim=2)  # wrong
            v = torch.cat([v, cache[1]], dim=2)
        T = k.shape[2]
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        keep = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, None]
        s = s.masked_fill(~keep, float("-inf"))
        w = torch.nan_to_num(F.softmax(s, -1))
        o = (w @ v).transpose(1, 2).reshape(B, n, D)
        return self.W_o(o), (k, v)
