# family: grad
# mistake: none
# Keys and values are detached for the cache and then attended to: no gradient reaches W_k and W_v.
import math
import torch
from torch import Tensor, nn


class MultiHead(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float):
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def to_heads(self, t: Tensor) -> Tensor:
        B, S, d = t.shape
        return t.reshape(B, S, self.n_heads, d // self.n_heads).transpose(1, 2)

    def forward(self, x: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        q = self.to_heads(self.W_q(x))
        att = q @ k.mT / math.sqrt(q.size(-1))
        if mask is None:
            att = att.softmax(-1)
        else:
            att = att.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask, 0.0)
        return self.W_o((self.drop(att) @ v).transpose(1, 2).reshape(x.shape))


class Mlp(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.act = nn.ReLU()
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.act(self.dense1(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} % {n_heads} != 0")
        self.self_attn = MultiHead(d_model, n_heads, dropout)
        self.cross_attn = MultiHead(d_model, n_heads, dropout)
        self.ffn = Mlp(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def _extend(self, x, cache):
        a = self.self_attn
        keys, values = a.to_heads(a.W_k(x)), a.to_heads(a.W_v(x))
        if cache is not None:
            keys = torch.cat([cache[0], keys], dim=-2)
            values = torch.cat([cache[1], values], dim=-2)
        return keys.detach(), values.detach()  # wrong

    def forward(self, x, memory, cache=None, memory_mask=None):
        cache = self._extend(x, cache)
        T, n = cache[0].size(2), x.size(1)
        pos = torch.arange(T, device=x.device)
        causal = pos[None, :] <= pos[T - n :, None]
        y = self.norm1(x + self.drop(self.self_attn(x, cache[0], cache[1], causal)))
        c = self.cross_attn
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask[:, None]
        z = self.norm2(y + self.drop(c(y, c.to_heads(c.W_k(memory)), c.to_heads(c.W_v(memory)), memory_mask)))
        return self.norm3(z + self.drop(self.ffn(z))), cache
