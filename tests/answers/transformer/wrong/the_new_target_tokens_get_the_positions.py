# family: core
# mistake: positions-start-again
# The new target tokens get the positions from 0 on although there are tokens in the cache.
import math

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: nn.Module) -> Tensor:
    """(B, H, n, d), (B, H, m, d), (B, H, m, d) and a mask that broadcasts to (B, H, n, m)."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        mask = mask.expand(scores.shape)
        scores = scores.masked_fill(~mask, float("-inf"))
        scores = scores.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return dropout(weights) @ value


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x: Tensor) -> Tensor:
        B, S, d_model = x.shape
        return x.reshape(B, S, self.n_heads, d_model // self.n_heads).transpose(1, 2)

    def keys_values(self, x: Tensor) -> LayerCache:
        return self.split(self.W_k(x)), self.split(self.W_v(x))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        context = attention(self.split(self.W_q(x)), keys, values, mask, self.dropout)
        return self.W_o(context.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(torch.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        keys, values = self.attention.keys_values(x)
        y = self.addnorm1(x, self.attention(x, keys, values, mask))
        return self.addnorm2(y, self.ffn(y))


class DecoderBlock(nn.Module):
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
        keys, values = self.self_attn.keys_values(x)
        if cache is not None:
            keys = torch.cat((cache[0], keys), dim=2)
            values = torch.cat((cache[1], values), dim=2)
        n, T = x.shape[1], keys.shape[2]
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        y = self.norm1(x + self.dropout(self.self_attn(x, keys, values, causal)))
        memory_keys, memory_values = self.cross_attn.keys_values(memory)
        z = self.norm2(y + self.dropout(self.cross_attn(y, memory_keys, memory_values, memory_mask)))
        return self.norm3(z + self.dropout(self.ffn(z))), (keys, values)


def sinusoidal_encoding(max_len: int, d_model: int) -> Tensor:
    position = torch.arange(max_len, dtype=torch.float64)[:, None]
    angle = position / 10000.0 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table = torch.zeros(max_len, d_model)
    table[:, 0::2] = angle.sin().float()
    table[:, 1::2] = angle.cos().float()[:, : d_model // 2]
    return table


class Stack(nn.Module):
    """Embedding with positions, and the layers behind it."""

    def __init__(
        self, vocab_size: int, d_model: int, layers: list[nn.Module], dropout: float, max_len: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(layers)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        end = start + tokens.shape[1]
        if end > self.pe.shape[0]:
            raise ValueError(f"{end} tokens, but only {self.pe.shape[0]} positions")
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x + self.pe[start:end].to(x.dtype))


class Transformer(nn.Module):
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
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.pad_id = pad_id
        sizes = (d_model, n_heads, d_ff, dropout)
        self.encoder = Stack(src_vocab_size, d_model, [EncoderBlock(*sizes) for _ in range(n_layers)], dropout, max_len)
        self.decoder = Stack(tgt_vocab_size, d_model, [DecoderBlock(*sizes) for _ in range(n_layers)], dropout, max_len)
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory_mask = (src != self.pad_id).unsqueeze(1)
        x = self.encoder.embed(src)
        for layer in self.encoder.layers:
            x = layer(x, memory_mask.unsqueeze(1))
        return x, memory_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        past = cache[0][0].shape[2] if cache else 0
        if past + tgt.shape[1] > self.decoder.pe.shape[0]:
            raise ValueError(f"{past + tgt.shape[1]} target tokens are too many")
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        x = self.decoder.embed(tgt)  # wrong
        new_cache = []
        for i, layer in enumerate(self.decoder.layers):
            x, layer_cache = layer(x, memory, cache[i] if cache else None, memory_mask)
            new_cache.append(layer_cache)
        return self.decoder.dense(x), new_cache

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)[0]
