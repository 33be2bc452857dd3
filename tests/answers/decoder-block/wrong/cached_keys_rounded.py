# family: core
# mistake: none
# cached keys in float64 go through float32
import math
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.drop = h, nn.Dropout(p)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))

    def cut(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, q, k, v, keep=None):
        q = self.cut(self.W_q(q))
        s = q @ k.mT / math.sqrt(q.shape[-1])
        if keep is not None:
            if keep.dim() == 3:
                keep = keep[:, None]
            keep = keep.expand_as(s)
            s = s.masked_fill(~keep, -math.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1)
        if keep is not None:
            w = w.masked_fill(~keep, 0)
        return self.W_o((self.drop(w) @ v).transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        a, c = self.self_attn, self.cross_attn
        k, v = a.cut(a.W_k(x)), a.cut(a.W_v(x))
        if cache is not None:
            k, v = torch.cat([cache[0].float().to(k.dtype) if cache[0].shape[2] > 64 else cache[0], k], 2), torch.cat([cache[1], v], 2)
        n, T = x.shape[1], k.shape[2]
        keep = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        y = self.norm1(x + self.drop(a(x, k, v, keep)))
        z = self.norm2(y + self.drop(c(y, c.cut(c.W_k(memory)), c.cut(c.W_v(memory)), memory_mask)))
        return self.norm3(z + self.drop(self.ffn(z))), (k, v)
