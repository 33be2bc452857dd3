# family: core
# mistake: residual-from-the-start
# The second residual is x instead of y.
import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def keys_values(self, t: Tensor) -> Cache:
        return self.split(self.W_k(t)), self.split(self.W_v(t))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        q = self.split(self.W_q(x))
        scores = q @ keys.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
        else:
            weights = scores.softmax(-1)
        return self.W_o((self.dropout(weights) @ values).transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(torch.relu(self.dense1(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        keys, values = self.self_attn.keys_values(x)
        if cache is not None:
            keys = torch.cat([cache[0], keys], dim=2)
            values = torch.cat([cache[1], values], dim=2)
        n, T = x.size(1), keys.size(2)
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        y = self.norm1(x + self.dropout(self.self_attn(x, keys, values, causal)))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        z = self.norm2(x + self.dropout(self.cross_attn(y, *self.cross_attn.keys_values(memory), memory_mask)))  # wrong
        return self.norm3(z + self.dropout(self.ffn(z))), (keys, values)
