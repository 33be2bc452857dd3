# family: core
# mistake: values-new-before-old
# The values are put together in the wrong order, new ones before old ones.
import torch
from torch import Tensor, nn


class CachedSelfAttention(nn.Module):
    """nanoGPT style."""

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads=} does not divide {d_model=}")
        self.n_head = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, cache=None, padding_mask=None):
        B, n, C = x.size()
        hs = C // self.n_head
        q = self.W_q(x).view(B, n, self.n_head, hs).transpose(1, 2)
        k = self.W_k(x).view(B, n, self.n_head, hs).transpose(1, 2)
        v = self.W_v(x).view(B, n, self.n_head, hs).transpose(1, 2)
        if cache is not None:
            k_old, v_old = cache
            k = torch.cat([k_old, k], dim=-2)
            v = torch.cat([v, v_old], dim=-2)  # wrong
        T = k.size(-2)
        att = (q @ k.transpose(-2, -1)) * hs**-0.5
        bias = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if padding_mask is not None:
            bias = bias & padding_mask.view(B, 1, 1, T)
        att = att.masked_fill(~bias, float("-inf"))
        att = torch.softmax(att, dim=-1)
        att = att.masked_fill(~bias, 0.0)
        y = (att @ v).transpose(1, 2).contiguous().view(B, n, C)
        return self.W_o(y), (k, v)
