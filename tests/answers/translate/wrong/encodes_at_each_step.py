# family: cost
# mistake: source-again
"""The blocks of earlier katas, put together; padding of the target is masked as well."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.h = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.p = dropout

    def split(self, t):
        b, s, d = t.shape
        return t.view(b, s, self.h, d // self.h).permute(0, 2, 1, 3)

    def project(self, source):
        return self.split(self.W_k(source)), self.split(self.W_v(source))

    def forward(self, x, k, v, mask=None):
        q = self.split(self.W_q(x))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = torch.where(mask, weights, torch.zeros_like(weights))
        weights = F.dropout(weights, self.p, self.training)
        out = torch.einsum("bhqk,bhkd->bqhd", weights, v)
        return self.W_o(out.reshape(x.shape))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.dense2(self.drop(F.relu(self.dense1(x))))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.ln, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x, y):
        return self.ln(x + self.drop(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff, dropout)

    def forward(self, x, mask):
        x = self.addnorm1(x, self.attention(x, *self.attention.project(x), mask))
        return self.addnorm2(x, self.ffn(x))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attn, self.cross_attn = (Attention(d_model, n_heads, dropout) for _ in range(2))
        self.ffn = FFN(d_model, d_ff, dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, cache, self_mask, memory_mask):
        k, v = self.self_attn.project(x)
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=-2), torch.cat((cache[1], v), dim=-2)
        x = self.norm1(x + self.drop(self.self_attn(x, k, v, self_mask)))
        x = self.norm2(x + self.drop(self.cross_attn(x, *self.cross_attn.project(memory), memory_mask)))
        return self.norm3(x + self.drop(self.ffn(x))), (k, v)


class Positions(nn.Module):
    def __init__(self, d_model, max_len, dropout):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * rate)
        pe[0, :, 1::2] = torch.cos(position * rate)[:, : d_model // 2]
        self.register_buffer("pe", pe)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, start=0):
        if start + x.size(1) > self.pe.size(1):
            raise ValueError("the sequence is longer than max_len")
        return self.drop(x + self.pe[:, start : start + x.size(1)].to(x))


class Encoder(nn.Module):
    def __init__(self, vocab, d_model, n_heads, d_ff, n_layers, dropout, max_len, pad_id):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model, padding_idx=pad_id)
        self.positions = Positions(d_model, max_len, dropout)
        self.layers = nn.ModuleList(EncoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))


class Decoder(nn.Module):
    def __init__(self, vocab, d_model, n_heads, d_ff, n_layers, dropout, max_len):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.positions = Positions(d_model, max_len, dropout)
        self.layers = nn.ModuleList(DecoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.dense = nn.Linear(d_model, vocab)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        self.d_model, self.pad_id = d_model, pad_id
        self.encoder = Encoder(src_vocab_size, d_model, n_heads, d_ff, n_layers, dropout, max_len, pad_id)
        self.decoder = Decoder(tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout, max_len)

    def encode(self, src):
        mask = src.ne(self.pad_id)[:, None, :]
        x = self.encoder.positions(self.encoder.embedding(src) * self.d_model**0.5)
        for layer in self.encoder.layers:
            x = layer(x, mask[:, None])
        return x, mask

    def _run(self, tgt, memory, memory_mask, cache, extra):
        past = cache[0][0].shape[-2] if cache is not None else 0
        x = self.decoder.positions(self.decoder.embedding(tgt) * self.d_model**0.5, past)
        n = tgt.shape[1]
        rows = torch.arange(past, past + n, device=tgt.device)[:, None]
        causal = torch.arange(past + n, device=tgt.device)[None, :] <= rows
        if extra is not None:
            causal = causal & extra
        memory_mask = None if memory_mask is None else memory_mask[:, None]
        caches = []
        for i, layer in enumerate(self.decoder.layers):
            x, pair = layer(x, memory, cache[i] if cache is not None else None, causal, memory_mask)
            caches.append(pair)
        return self.decoder.dense(x), tuple(caches)

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        return self._run(tgt, memory, memory_mask, cache, None)

    def forward(self, src, tgt):
        memory, mask = self.encode(src)
        real = torch.ones_like(tgt, dtype=torch.bool)
        real[:, 1:] = tgt[:, 1:] != self.pad_id
        return self._run(tgt, memory, mask, None, real[:, None, None, :])[0]


class Translator(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, max_len=50, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.transformer = Transformer(
            src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, 0.0, max_len, pad_id
        )

    def forward(self, src, tgt):
        return self.transformer(src, tgt)

    def loss(self, src, tgt):
        logits = self(src, tgt[:, :-1])
        return nn.functional.cross_entropy(logits.transpose(1, 2), tgt[:, 1:], ignore_index=self.pad_id)

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        memory, mask = self.transformer.encode(src)
        cache = None
        prefix = torch.ones_like(src[:, :1]) * bos
        ended = torch.zeros(src.size(0), 1, dtype=torch.bool, device=src.device)
        for _ in range(max_len):
            memory, mask = self.transformer.encode(src)
            logits, cache = self.transformer.decode(prefix[:, -1:], memory, mask, cache)
            token = torch.max(logits, dim=2)[1]
            prefix = torch.cat((prefix, token * ~ended + self.pad_id * ended), 1)
            ended = ended | (token == eos)
            if ended.all():
                break
        return prefix[:, 1:]
