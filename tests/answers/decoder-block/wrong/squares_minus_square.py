# family: core
# mistake: none
# The norms take the mean of the squares less the square of the mean for the variance.
import math
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.h, self.p = h, nn.Dropout(p)

    def heads(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def kv(self, x):
        return self.heads(self.W_k(x)), self.heads(self.W_v(x))

    def forward(self, x, kv, mask):
        k, v = kv
        s = torch.einsum("bhid,bhjd->bhij", self.heads(self.W_q(x)), k) / math.sqrt(k.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask, -math.inf)
            s = s.masked_fill(~mask.any(-1, keepdim=True), 0)
        w = s.softmax(-1)
        if mask is not None:
            w = w * mask
        o = torch.einsum("bhij,bhjd->bihd", self.p(w), v)
        return self.W_o(o.flatten(2))


class Norm(nn.LayerNorm):
    def forward(self, x):
        f = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        mean = f.mean(-1, keepdim=True)
        var = (f * f).mean(-1, keepdim=True) - mean * mean  # wrong
        y = (f - mean) * torch.rsqrt(var.clamp(min=0) + self.eps)
        return (y * self.weight + self.bias).to(x.dtype)


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads do not divide the width")
        self.self_attn, self.cross_attn = Attn(d_model, n_heads, dropout), Attn(d_model, n_heads, dropout)
        self.ffn = nn.Sequential()
        self.ffn.add_module("dense1", nn.Linear(d_model, d_ff))
        self.ffn.add_module("act", nn.ReLU())
        self.ffn.add_module("dense2", nn.Linear(d_ff, d_model))
        self.norm1, self.norm2, self.norm3 = (Norm(d_model) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        k, v = self.self_attn.kv(x)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n, T = x.shape[1], k.shape[2]
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        x = self.norm1(x + self.drop(self.self_attn(x, (k, v), causal)))
        x = self.norm2(x + self.drop(self.cross_attn(x, self.cross_attn.kv(memory), memory_mask)))
        return self.norm3(x + self.drop(self.ffn(x))), (k, v)
