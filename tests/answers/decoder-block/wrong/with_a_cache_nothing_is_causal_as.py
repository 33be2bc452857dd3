# family: core
# mistake: chunk-sees-its-future
# With a cache nothing is causal, as if one new token came at a time: several new ones see each other's future.
import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def project(self, x: Tensor) -> Cache:
        return self.split(self.W_k(x)), self.split(self.W_v(x))

    def attend(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        q = self.split(self.W_q(x))
        scores = q / math.sqrt(q.shape[-1]) @ keys.transpose(-2, -1)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            blind = ~mask.any(dim=-1, keepdim=True)
            weights = scores.masked_fill(~mask, -math.inf).masked_fill(blind, 0.0).softmax(dim=-1)
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ values
        return self.W_o(context.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dense1(x).relu())


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide a width of {d_model}")
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, memory: Tensor, cache: Cache | None = None, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        keys, values = self.self_attn.project(x)
        n = x.shape[1]
        causal = None
        if cache is None or cache[0].shape[2] == 0:  # wrong
            causal = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        if cache is not None:
            keys = torch.cat((cache[0], keys), dim=2)
            values = torch.cat((cache[1], values), dim=2)
        y = self.norm1(x + self.dropout(self.self_attn.attend(x, keys, values, causal)))

        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        seen = self.cross_attn.attend(y, *self.cross_attn.project(memory), memory_mask)
        z = self.norm2(y + self.dropout(seen))
        return self.norm3(z + self.dropout(self.ffn(z))), (keys, values)
