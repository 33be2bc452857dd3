import math

import torch
import torch.nn.functional as F
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True):
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        super().__init__()
        self.n_heads, self.width = n_heads, d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, cache=None, padding_mask=None):
        n = x.size(1)
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        keys, values, heads = [], [], []
        for h in range(self.n_heads):
            cols = slice(h * self.width, (h + 1) * self.width)
            kh, vh = k[..., cols], v[..., cols]
            if cache is not None:
                kh = torch.cat([cache[0][:, h], kh], dim=1)
                vh = torch.cat([cache[1][:, h], vh], dim=1)
            T = kh.size(1)
            hidden = torch.ones(n, T, dtype=torch.bool, device=x.device).triu(T - n + 1).unsqueeze(0)
            if padding_mask is not None:
                hidden = hidden | ~padding_mask.unsqueeze(1)
            scores = torch.bmm(q[..., cols], kh.transpose(1, 2)) / math.sqrt(self.width)
            weights = F.softmax(scores.masked_fill(hidden, -math.inf), dim=-1).masked_fill(hidden, 0)
            heads.append(torch.bmm(weights, vh))
            keys.append(kh)
            values.append(vh)
        return self.W_o(torch.cat(heads, dim=-1)), (torch.stack(keys, dim=1), torch.stack(values, dim=1))
