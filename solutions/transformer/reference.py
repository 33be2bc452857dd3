"""The Transformer: an encoder, a decoder, and decoding step by step.

    memory = Encoder(sqrt(d_model) * E_src[src] + P),    logits = Decoder(sqrt(d_model) * E_tgt[tgt] + P, memory) W + b

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3 and figure 1.
"""

import math

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


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
        x = x.reshape(batch, length, self.n_heads, self.d_head)  # (B, S, H, d_head)
        return x.transpose(1, 2)  # (B, H, S, d_head)

    def keys_and_values(self, x: Tensor) -> LayerCache:
        """Project and split the tokens that are asked: (B, S, d_model) to two of (B, H, S, d_head)."""
        return self.split_heads(self.W_k(x)), self.split_heads(self.W_v(x))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attend from x (B, n, d_model) to keys and values (B, H, m, d_head): (B, n, d_model)."""
        queries = self.split_heads(self.W_q(x))  # (B, H, n, d_head)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, n, m)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # (B, 1, 1, m)
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
        """(B, S, d_model) to (B, S, d_model)."""
        hidden = torch.relu(self.dense1(x))  # (B, S, d_ff)
        return self.dense2(hidden)  # (B, S, d_model)


class AddNorm(nn.Module):
    """The sum of what went into a sublayer and what came out of it, normalised."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ln(x + dropout(y)), x and y (B, S, d_model)."""
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    """Self-attention and feed-forward network, as in the kata encoder-block."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Run x (B, m, d_model) through the block; the mask (B, 1, m) hides padding."""
        keys, values = self.attention.keys_and_values(x)  # (B, H, m, d_head)
        y = self.addnorm1(x, self.attention(x, keys, values, mask))  # (B, m, d_model)
        return self.addnorm2(y, self.ffn(y))


class DecoderBlock(nn.Module):
    """Causal self-attention with a cache, cross-attention, feed-forward network, as in the kata decoder-block."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, memory: Tensor, cache: LayerCache | None, memory_mask: Tensor | None
    ) -> tuple[Tensor, LayerCache]:
        """Run the new tokens x (B, n, d_model) through the block; returns them and the cache of all T tokens."""
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
        attended = self.cross_attn(x, memory_keys, memory_values, memory_mask)
        x = self.norm2(x + self.dropout(attended))

        x = self.norm3(x + self.dropout(self.ffn(x)))
        return x, (keys, values)


class PositionalEncoding(nn.Module):
    """Sines and cosines, added to the tokens; then dropout."""

    def __init__(self, d_model: int, max_len: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        positions = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)  # (max_len, 1)
        angles = positions / 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
        table = torch.zeros(max_len, d_model)  # (max_len, d_model)
        table[:, 0::2] = torch.sin(angles)
        table[:, 1::2] = torch.cos(angles[:, : d_model // 2])
        self.register_buffer("pe", table, persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add the positions start, start + 1, ... to x (B, S, d_model). ValueError behind the end of the table."""
        end = start + x.size(1)
        if end > self.pe.size(0):
            raise ValueError(f"{end} tokens, but there are positions for {self.pe.size(0)}")
        return self.dropout(x + self.pe[start:end].to(x.dtype))


def embedding(vocab_size: int, d_model: int) -> nn.Embedding:
    """Make an embedding whose vectors have unit variance once they are multiplied by sqrt(d_model)."""
    table = nn.Embedding(vocab_size, d_model)
    nn.init.normal_(table.weight, std=d_model**-0.5)
    return table


class Encoder(nn.Module):
    """Embedding, positions, and a stack of encoder blocks."""

    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, dropout: float, max_len: int
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.embedding = embedding(vocab_size, d_model)
        self.positions = PositionalEncoding(d_model, max_len, dropout)
        self.layers = nn.ModuleList([EncoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])

    def forward(self, src: Tensor, mask: Tensor) -> Tensor:
        """Encode src (B, m) under the padding mask (B, 1, m): (B, m, d_model)."""
        x = self.positions(self.embedding(src) * self.scale)  # (B, m, d_model)
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Decoder(nn.Module):
    """Embedding, positions, a stack of decoder blocks, and the projection to the vocabulary."""

    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, dropout: float, max_len: int
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.embedding = embedding(vocab_size, d_model)
        self.positions = PositionalEncoding(d_model, max_len, dropout)
        self.layers = nn.ModuleList([DecoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])
        self.dense = nn.Linear(d_model, vocab_size)

    def forward(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None, cache: list[LayerCache] | None
    ) -> tuple[Tensor, list[LayerCache]]:
        """Decode the new tokens tgt (B, n): logits (B, n, vocab_size) and the layers' caches of all T tokens."""
        past = 0 if cache is None else cache[0][0].size(2)
        x = self.positions(self.embedding(tgt) * self.scale, start=past)  # (B, n, d_model)
        new_cache = []
        for index, layer in enumerate(self.layers):
            x, layer_cache = layer(x, memory, None if cache is None else cache[index], memory_mask)
            new_cache.append(layer_cache)
        return self.dense(x), new_cache


class Transformer(nn.Module):
    """Sequence to sequence: token ids in, logits out.

    src_vocab_size, tgt_vocab_size  numbers of source and of target tokens
    d_model   width of the tokens
    n_heads   number of heads; d_model % n_heads != 0 raises ValueError
    d_ff      width of the hidden layers of the feed-forward networks
    n_layers  number of encoder blocks, and of decoder blocks
    dropout   on the sums of embeddings and positions, on the attention weights, on each sublayer's output; in training
    max_len   number of positions; a longer sequence raises ValueError
    pad_id    the source token that is padding
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.0,
        max_len: int = 1000,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        self.pad_id = pad_id
        self.encoder = Encoder(src_vocab_size, d_model, n_heads, d_ff, n_layers, dropout, max_len)
        self.decoder = Decoder(tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout, max_len)

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source src (B, m), token ids.

        Returns memory (B, m, d_model) and memory_mask (B, 1, m), bool, True = a real token.
        """
        memory_mask = (src != self.pad_id).unsqueeze(1)  # (B, 1, m)
        memory = self.encoder(src, memory_mask)  # (B, m, d_model)
        return memory, memory_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        """Go on writing: tgt (B, n) are the last n of T target tokens.

        memory, memory_mask  as `encode` returns them; no mask = everything is visible
        cache                what the call before returned: for each layer (keys, values) of the T - n tokens before,
                             each (B, H, T - n, d_head); None = there are none

        Returns logits (B, n, tgt_vocab_size) and the cache of all T tokens.
        """
        logits, cache = self.decoder(tgt, memory, memory_mask, cache)
        return logits, cache

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Return the logits (B, n, tgt_vocab_size) behind each token of tgt (B, n), given src (B, m)."""
        memory, memory_mask = self.encode(src)
        logits, _ = self.decode(tgt, memory, memory_mask)
        return logits
