import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        self.d_k = d_k
        self.d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, self.d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        B, n, _ = x_q.shape
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        out = torch.empty(B, n, self.d_v, dtype=v.dtype, device=v.device)
        weights = torch.empty(B, n, k.size(1), dtype=v.dtype, device=v.device)
        for i in range(n):
            s = (k * q[:, i : i + 1]).sum(-1) / self.d_k**0.5
            if mask is not None:
                row = mask[..., min(i, mask.size(-2) - 1), :]
                s = s.masked_fill(~row, float("-inf")).softmax(-1).masked_fill(~row, 0)
            else:
                s = s.softmax(-1)
            weights[:, i] = s
            out[:, i] = (s.unsqueeze(-1) * v).sum(1)
        return out, weights
