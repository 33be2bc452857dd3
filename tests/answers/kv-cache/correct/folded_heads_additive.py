import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(d_model, n_heads)
        self.n_heads = n_heads
        self.scale = (d_model // n_heads) ** -0.5
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split(self, t):
        return t.reshape(t.size(0), t.size(1), self.n_heads, -1).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, _ = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        if cache is not None:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache, (k, v)))
        T = k.size(2)
        work = torch.promote_types(x.dtype, torch.float32)
        keep = torch.ones(1, n, T, device=x.device, dtype=torch.bool).tril(T - n)
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, :]
        keep = keep.expand(B, n, T).repeat_interleave(self.n_heads, dim=0)
        bias = torch.zeros(keep.shape, dtype=work, device=x.device).masked_fill(~keep, torch.finfo(work).min / 2)
        fold = lambda t: t.reshape(B * self.n_heads, t.size(2), -1).to(work)
        scores = torch.baddbmm(bias, fold(q), fold(k).transpose(1, 2), alpha=self.scale)
        weights = scores.softmax(dim=-1) * keep
        context = torch.bmm(weights, fold(v)).to(x.dtype)
        context = context.view(B, self.n_heads, n, -1).transpose(1, 2).reshape(B, n, -1)
        return self.W_o(context), (k, v)
