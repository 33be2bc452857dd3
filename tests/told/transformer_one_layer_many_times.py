# kata: transformer
# names: one-layer-many-names
import math

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: nn.Dropout) -> Tensor:
    "Scaled dot product attention"
    d_k = query.size(-1)
    scores = torch.matmul(query / math.sqrt(d_k), key.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
        scores = scores.masked_fill((mask == 0).all(-1, keepdim=True), 0.0)
    p_attn = scores.softmax(dim=-1)
    if mask is not None:
        p_attn = p_attn.masked_fill(mask == 0, 0.0)
    return torch.matmul(dropout(p_attn), value)


class MultiHeadedAttention(nn.Module):
    def __init__(self, h: int, d_model: int, dropout: float) -> None:
        super().__init__()
        self.d_k = d_model // h
        self.h = h
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def heads(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.h, self.d_k).transpose(1, 2)

    def forward(
        self, query: Tensor, source: Tensor, mask: Tensor | None, past: LayerCache | None = None
    ) -> tuple[Tensor, LayerCache]:
        k, v = self.heads(self.W_k(source)), self.heads(self.W_v(source))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        x = attention(self.heads(self.W_q(query)), k, v, mask, self.dropout)
        x = x.transpose(1, 2).contiguous().view(query.size(0), query.size(1), self.h * self.d_k)
        return self.W_o(x), (k, v)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dense1(x).relu())


class SublayerConnection(nn.Module):
    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, out: Tensor) -> Tensor:
        return self.ln(x + self.dropout(out))


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, h: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadedAttention(h, d_model, dropout)
        self.ffn = PositionwiseFeedForward(d_model, d_ff)
        self.addnorm1 = SublayerConnection(d_model, dropout)
        self.addnorm2 = SublayerConnection(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.addnorm1(x, self.attention(x, x, mask)[0])
        return self.addnorm2(x, self.ffn(x))


class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, h: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attn = MultiHeadedAttention(h, d_model, dropout)
        self.cross_attn = MultiHeadedAttention(h, d_model, dropout)
        self.ffn = PositionwiseFeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor, past: LayerCache | None
    ) -> tuple[Tensor, LayerCache]:
        attended, present = self.self_attn(x, x, tgt_mask, past)
        x = self.norm1(x + self.dropout(attended))
        looked, _ = self.cross_attn(x, memory, src_mask)
        x = self.norm2(x + self.dropout(looked))
        return self.norm3(x + self.dropout(self.ffn(x))), present


class Encoder(nn.Module):
    "Core encoder is a stack of N layers"

    def __init__(self, vocab: int, d_model: int, layer: nn.Module, N: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList([layer] * N)  # wrong


class Decoder(nn.Module):
    "Generic N layer decoder with masking."

    def __init__(self, vocab: int, d_model: int, layer: nn.Module, N: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList([layer] * N)  # wrong
        self.dense = nn.Linear(d_model, vocab)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float, max_len: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.max_len = max_len
        pe = torch.zeros(max_len, d_model, dtype=torch.float32)
        position = torch.arange(0, max_len, dtype=torch.float64).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term).float()
        pe[:, 1::2] = torch.cos(position * div_term[: d_model // 2]).float()
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        stop = start + x.size(1)
        if stop > self.max_len:
            raise ValueError(f"{stop} tokens exceed max_len = {self.max_len}")
        return self.dropout(x + self.pe[:, start:stop])


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
        if d_model % n_heads != 0:
            raise ValueError("d_model must be a multiple of n_heads")
        self.d_model = d_model
        self.pad_id = pad_id
        self.encoder = Encoder(src_vocab_size, d_model, EncoderLayer(d_model, n_heads, d_ff, dropout), n_layers)
        self.decoder = Decoder(tgt_vocab_size, d_model, DecoderLayer(d_model, n_heads, d_ff, dropout), n_layers)
        self.position = PositionalEncoding(d_model, dropout, max_len)

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        src_mask = (src != self.pad_id).unsqueeze(-2)
        x = self.position(self.encoder.embedding(src) * math.sqrt(self.d_model))
        for layer in self.encoder.layers:
            x = layer(x, src_mask.unsqueeze(1))
        return x, src_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        past = cache[0][0].size(2) if cache else 0
        x = self.position(self.decoder.embedding(tgt) * math.sqrt(self.d_model), past)
        n = tgt.size(1)
        tgt_mask = torch.triu(torch.ones(n, past + n, device=tgt.device), diagonal=past + 1) == 0
        if memory_mask is not None:
            memory_mask = memory_mask.unsqueeze(1)
        presents = []
        for i, layer in enumerate(self.decoder.layers):
            x, present = layer(x, memory, memory_mask, tgt_mask, cache[i] if cache else None)
            presents.append(present)
        return self.decoder.dense(x), presents

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)[0]
