import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        if d_v is None:
            d_v = d_k
        self.W_q = nn.Linear(d_model, d_k, bias)
        self.W_k = nn.Linear(d_model, d_k, bias)
        self.W_v = nn.Linear(d_model, d_v, bias)

    def forward(self, x, mask=None):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        s = torch.einsum("bid,bjd->bij", q, k) * k.shape[-1] ** -0.5
        if mask is not None:
            lowest = torch.finfo(s.dtype).min
            s = torch.where(mask, s, torch.full_like(s, lowest))
        p = s.softmax(-1)
        if mask is not None:
            p = torch.where(mask, p, torch.zeros_like(p))
        return torch.einsum("bij,bjd->bid", p, v), p
