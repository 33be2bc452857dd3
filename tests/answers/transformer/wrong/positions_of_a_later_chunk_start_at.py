# family: core
# mistake: positions-start-again
# Positions of a later chunk start at 0 again.
import math

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


def sinusoidal(max_len: int, d_model: int) -> Tensor:
    pos = torch.arange(max_len, dtype=torch.float32)[:, None]
    freq = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    table = torch.zeros(max_len, d_model, dtype=torch.float32)
    table[:, 0::2] = torch.sin(pos * freq)
    table[:, 1::2] = torch.cos(pos * freq)[:, : d_model // 2]
    return table


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def kv(self, t: Tensor) -> LayerCache:
        return self.split(self.W_k(t)), self.split(self.W_v(t))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        q = self.split(self.W_q(x))
        scores = q @ keys.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
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


class AddNorm(nn.Module):
    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sub: Tensor) -> Tensor:
        return self.ln(x + self.dropout(sub))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask):
        y = self.addnorm1(x, self.attention(x, *self.attention.kv(x), mask))
        return self.addnorm2(y, self.ffn(y))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, memory_mask, cache):
        keys, values = self.self_attn.kv(x)
        if cache is not None:
            keys = torch.cat([cache[0], keys], dim=2)
            values = torch.cat([cache[1], values], dim=2)
        n, T = x.size(1), keys.size(2)
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        y = self.norm1(x + self.dropout(self.self_attn(x, keys, values, causal)))
        z = self.norm2(y + self.dropout(self.cross_attn(y, *self.cross_attn.kv(memory), memory_mask)))
        return self.norm3(z + self.dropout(self.ffn(z))), (keys, values)


class Stack(nn.Module):
    def __init__(self, vocab_size, d_model, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(layers)


class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0
    ):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        args = (d_model, n_heads, d_ff, dropout)
        self.encoder = Stack(src_vocab_size, d_model, [EncoderBlock(*args) for _ in range(n_layers)])
        self.decoder = Stack(tgt_vocab_size, d_model, [DecoderBlock(*args) for _ in range(n_layers)])
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.register_buffer("pe", sinusoidal(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.d_model = d_model
        self.max_len = max_len
        self.pad_id = pad_id

    def embed(self, embedding: nn.Embedding, tokens: Tensor, offset: int) -> Tensor:
        end = offset + tokens.size(1)
        if end > self.max_len:
            raise ValueError(f"more than {self.max_len} tokens")
        x = embedding(tokens) * math.sqrt(self.d_model)
        x = x + self.pe[offset:end].to(x.dtype)
        return self.dropout(x)

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory_mask = (src != self.pad_id).unsqueeze(1)
        x = self.embed(self.encoder.embedding, src, 0)
        for layer in self.encoder.layers:
            x = layer(x, memory_mask)
        return x, memory_mask

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        past = cache[0][0].size(2) if cache else 0
        if past + tgt.size(1) > self.max_len:
            raise ValueError(f"more than {self.max_len} tokens")
        x = self.embed(self.decoder.embedding, tgt, 0)  # wrong
        new_cache = []
        for i, layer in enumerate(self.decoder.layers):
            x, kv = layer(x, memory, memory_mask, cache[i] if cache else None)
            new_cache.append(kv)
        return self.decoder.dense(x), new_cache

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)[0]
