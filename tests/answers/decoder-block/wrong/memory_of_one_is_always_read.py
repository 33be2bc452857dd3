# family: mask
# mistake: none
"""Reads a memory of one position whatever its mask says."""

import math
import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split_heads(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        x = x.view(batch, length, self.n_heads, self.d_head)
        return x.transpose(1, 2)

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return (self.split_heads(self.W_k(x)), self.split_heads(self.W_v(x)))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        queries = self.split_heads(self.W_q(x))
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ values
        context = context.transpose(1, 2).flatten(2)
        return self.W_o(context)


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.dense1(x))
        return self.dense2(hidden)


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, memory: Tensor, cache: Cache | None = None, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        keys, values = self.self_attn.keys_and_values(x)
        if cache is not None:
            past_keys, past_values = cache
            keys = torch.cat([past_keys, keys], dim=2)
            values = torch.cat([past_values, values], dim=2)
        new, total = (x.size(1), keys.size(2))
        causal = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(diagonal=total - new)
        attended = self.self_attn(x, keys, values, causal)
        x = self.norm1(x + self.dropout(attended))
        memory_keys, memory_values = self.cross_attn.keys_and_values(memory)
        if memory.size(1) == 1:
            memory_mask = None
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        attended = self.cross_attn(x, memory_keys, memory_values, memory_mask)
        x = self.norm2(x + self.dropout(attended))
        output = self.norm3(x + self.dropout(self.ffn(x)))
        cache = (keys, values)
        return (output, cache)
