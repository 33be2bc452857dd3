"""One decoder block of the Transformer, with a cache for its self-attention.

    y = LayerNorm(x + SelfAttention(x)),   z = LayerNorm(y + CrossAttention(y, memory)),   LayerNorm(z + FFN(z))

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), sections 3.1 to 3.3 and figure 1.
"""

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class MultiHeadAttention(nn.Module):
    """Attention of many heads to keys and values that are projected and split already."""

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
        """(B, S, d_model) to (B, H, S, d_head)."""
        batch, length, _ = x.shape
        x = x.view(batch, length, self.n_heads, self.d_head)  # (B, S, H, d_head)
        return x.transpose(1, 2)  # (B, H, S, d_head)

    def keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Project and split the tokens that are asked: (B, S, d_model) to two of (B, H, S, d_head)."""
        return self.split_heads(self.W_k(x)), self.split_heads(self.W_v(x))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attend from x (B, n, d_model) to keys and values (B, H, m, d_head): (B, n, d_model)."""
        queries = self.split_heads(self.W_q(x))  # (B, H, n, d_head)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, n, m)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # a row of nothing but -inf came out as NaN
        context = self.dropout(weights) @ values  # (B, H, n, d_head)
        context = context.transpose(1, 2).flatten(2)  # (B, n, d_model)
        return self.W_o(context)


class FeedForward(nn.Module):
    """Two layers with a ReLU between them, position by position."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(B, n, d_model) to (B, n, d_model)."""
        hidden = torch.relu(self.dense1(x))  # (B, n, d_ff)
        return self.dense2(hidden)  # (B, n, d_model)


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention over the memory, feed-forward; each with dropout, sum and norm after it.

    d_model  width of the tokens and of the memory
    n_heads  number of heads; d_model % n_heads != 0 raises ValueError
    d_ff     width of the hidden layer of the feed-forward network
    dropout  on the attention weights and on the output of each sublayer before the sum, in training
    """

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
        """Run the new tokens through the block.

        x            (B, n, d_model), the new tokens: the last n of T
        memory       (B, m, d_model), the encoder's output
        cache        (keys, values) of the self-attention for the T - n tokens before, each (B, H, T - n, d_head),
                     T - n may be 0; None = there are none
        memory_mask  bool, True = this position of the memory may be attended to: (n, m); (B, n, m), (B, 1, m) or
                     (1, n, m); (B, H, n, m) or the same with ones for B, H or n

        Returns the output (B, n, d_model) and the cache of all T tokens, (keys, values), each (B, H, T, d_head).
        """
        keys, values = self.self_attn.keys_and_values(x)  # (B, H, n, d_head)
        if cache is not None:
            past_keys, past_values = cache
            keys = torch.cat([past_keys, keys], dim=2)  # (B, H, T, d_head)
            values = torch.cat([past_values, values], dim=2)  # (B, H, T, d_head)

        # The queries are the last n of T positions: query i sees keys 0 to T - n + i.
        new, total = x.size(1), keys.size(2)
        causal = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(diagonal=total - new)  # (n, T)
        attended = self.self_attn(x, keys, values, causal)
        x = self.norm1(x + self.dropout(attended))

        memory_keys, memory_values = self.cross_attn.keys_and_values(memory)  # (B, H, m, d_head)
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)  # (B, 1, n, m)
        attended = self.cross_attn(x, memory_keys, memory_values, memory_mask)
        x = self.norm2(x + self.dropout(attended))

        output = self.norm3(x + self.dropout(self.ffn(x)))
        cache = (keys, values)
        return output, cache
