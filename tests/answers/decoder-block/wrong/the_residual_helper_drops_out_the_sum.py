# family: core
# mistake: none
# The residual helper drops out the sum, not the sublayer's output before the sum.
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.p = nn.Dropout(p)

    def project(self, t):
        return (w(t).unflatten(-1, (self.h, -1)).transpose(1, 2) for w in (self.W_k, self.W_v))

    def forward(self, x, k, v, mask=None):
        q = self.W_q(x).unflatten(-1, (self.h, -1))
        s = torch.einsum("bnhd,bhmd->bhnm", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            s = s.masked_fill(~mask, -torch.inf)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0)
        return self.W_o(torch.einsum("bhnm,bhmd->bnhd", self.p(w), v).flatten(2))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads does not divide d_model")
        self.self_attn = Attn(d_model, n_heads, dropout)
        self.cross_attn = Attn(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def _residual(self, norm, x, sub):
        return norm(self.drop(x + sub))  # wrong

    def forward(self, x, memory, cache=None, memory_mask=None):
        k, v = self.self_attn.project(x)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T = k.size(2)
        causal = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[T - x.size(1) :]
        if memory_mask is not None and memory_mask.ndim == 3:
            memory_mask = memory_mask.unsqueeze(1)
        y = self._residual(self.norm1, x, self.self_attn(x, k, v, causal))
        mk, mv = self.cross_attn.project(memory)
        z = self._residual(self.norm2, y, self.cross_attn(y, mk, mv, memory_mask))
        return self._residual(self.norm3, z, self.ffn(z)), (k, v)
