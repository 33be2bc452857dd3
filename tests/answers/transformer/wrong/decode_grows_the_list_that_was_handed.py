# family: core
# mistake: none
# Decode grows the list that was handed in, so that two continuations of one prefix disturb each other.
from __future__ import annotations

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


class SinusoidTable(nn.Module):
    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        column = torch.arange(width)
        rate = torch.pow(10000.0, -((column - column % 2).double() / width))
        angle = torch.arange(rows).double().outer(rate)
        table = torch.where(column % 2 == 0, angle.sin(), angle.cos())
        self.register_buffer("table", table.to(torch.float32), persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        stop = start + x.size(1)
        if stop > self.table.size(0):
            raise ValueError(f"position {stop - 1} is beyond max_len")
        return x + self.table[start:stop].to(x.dtype)


class HeadedAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, p: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.drop = nn.Dropout(p)

    def heads(self, t: Tensor) -> Tensor:
        return t.unflatten(2, (self.n_heads, -1)).transpose(1, 2)

    def forward(
        self, x: Tensor, source: Tensor, keep: Tensor | None, past: LayerCache | None = None
    ) -> tuple[Tensor, LayerCache]:
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(source)), self.heads(self.W_v(source))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=-2), torch.cat([past[1], v], dim=-2)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.size(-1) ** -0.5
        if keep is None:
            weights = scores.softmax(-1)
        else:
            hidden = ~(keep.unsqueeze(1) if keep.ndim == 3 else keep)
            weights = scores.masked_fill(hidden, -torch.inf).softmax(-1).masked_fill(hidden, 0)
        context = torch.einsum("bhij,bhjd->bihd", self.drop(weights), v)
        return self.W_o(context.flatten(2)), (k, v)


class FeedForward(nn.Sequential):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.add_module("dense1", nn.Linear(d_model, d_ff))
        self.add_module("relu", nn.ReLU())
        self.add_module("dense2", nn.Linear(d_ff, d_model))


class AddNorm(nn.Module):
    def __init__(self, d_model: int, p: float) -> None:
        super().__init__()
        self.ln, self.drop = nn.LayerNorm(d_model), nn.Dropout(p)

    def forward(self, residual: Tensor, update: Tensor) -> Tensor:
        return self.ln(residual + self.drop(update))


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, p: float) -> None:
        super().__init__()
        self.attention, self.ffn = HeadedAttention(d_model, n_heads, p), FeedForward(d_model, d_ff)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, p), AddNorm(d_model, p)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        x = self.addnorm1(x, self.attention(x, x, keep)[0])
        return self.addnorm2(x, self.ffn(x))


class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, p: float) -> None:
        super().__init__()
        self.self_attn = HeadedAttention(d_model, n_heads, p)
        self.cross_attn = HeadedAttention(d_model, n_heads, p)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.drop = nn.Dropout(p)

    def forward(
        self, x: Tensor, memory: Tensor, past: LayerCache | None, memory_keep: Tensor | None
    ) -> tuple[Tensor, LayerCache]:
        old, n = (past[0].size(2) if past is not None else 0), x.size(1)
        at = torch.arange(old + n, device=x.device)
        a, present = self.self_attn(x, x, at <= at[old:, None], past)
        x = self.norm1(x + self.drop(a))
        x = self.norm2(x + self.drop(self.cross_attn(x, memory, memory_keep)[0]))
        return self.norm3(x + self.drop(self.ffn(x))), present


class Stack(nn.Module):
    def __init__(self, vocab: int, d_model: int, layers: list[nn.Module]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList(layers)


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
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        sizes = (d_model, n_heads, d_ff, dropout)
        self.encoder = Stack(src_vocab_size, d_model, [EncoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder = Stack(tgt_vocab_size, d_model, [DecoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.pe = SinusoidTable(max_len, d_model)
        self.drop = nn.Dropout(dropout)
        self.scale = d_model**0.5
        self.pad_id = pad_id

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory_mask = src.ne(self.pad_id)[:, None, :]
        x = self.drop(self.pe(self.encoder.embedding(src) * self.scale))
        for layer in self.encoder.layers:
            x = layer(x, memory_mask)
        return x, memory_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        layers = self.decoder.layers
        start = cache[0][0].size(2) if cache else 0
        cache = cache if cache else [None] * len(layers)  # wrong
        x = self.drop(self.pe(self.decoder.embedding(tgt) * self.scale, start))
        for i, layer in enumerate(layers):
            x, cache[i] = layer(x, memory, cache[i], memory_mask)
        return self.decoder.dense(x), cache

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        return self.decode(tgt, *self.encode(src))[0]
