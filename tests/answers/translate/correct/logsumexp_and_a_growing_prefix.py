# log p by hand; the prefix grows, only its last token is decoded
"""Everything between the embedding and the logits runs in float32 at least; queries one by one."""
import math

import torch
import torch.nn.functional as F
from torch import nn


def wide(t):
    return t.to(torch.promote_types(t.dtype, torch.float32))


class Linear(nn.Linear):
    def forward(self, x):
        return F.linear(x, wide(self.weight), wide(self.bias))


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * wide(self.weight) + wide(self.bias)


class MHA(nn.Module):
    def __init__(self, d, h, drop):
        super().__init__()
        if d % h != 0:
            raise ValueError("width and heads")
        self.h, self.drop = h, drop
        self.W_q, self.W_k, self.W_v, self.W_o = Linear(d, d), Linear(d, d), Linear(d, d), Linear(d, d)

    def kv(self, x):
        b, s, d = x.shape
        return tuple(w(x).view(b, s, self.h, -1).transpose(1, 2) for w in (self.W_k, self.W_v))

    def forward(self, x, k, v, masks):
        b, n, d = x.shape
        q = self.W_q(x).view(b, n, self.h, -1).transpose(1, 2) / math.sqrt(d // self.h)
        rows = []
        for i in range(n):
            scores = (q[:, :, i : i + 1] * k).sum(-1)
            mask = masks(i)
            if mask is None:
                weights = scores.softmax(-1)
            else:
                weights = scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask, 0.0)
            weights = self.drop(weights)
            rows.append((weights.unsqueeze(-1) * v).sum(2).flatten(1))
        return self.W_o(torch.stack(rows, 1))


class FF(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = Linear(d, f), Linear(f, d)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class Holder(nn.Module):
    pass


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.max_len, self.pad_id, self.d = max_len, pad_id, d_model
        self.encoder, self.decoder = Holder(), Holder()
        self.encoder.embedding = nn.Embedding(src_vocab_size, d_model)
        self.decoder.embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.encoder.layers, self.decoder.layers = nn.ModuleList(), nn.ModuleList()
        for _ in range(n_layers):
            block = Holder()
            block.attention = MHA(d_model, n_heads, self.drop)
            block.ffn = FF(d_model, d_ff)
            block.addnorm1, block.addnorm2 = Holder(), Holder()
            block.addnorm1.ln, block.addnorm2.ln = Norm(d_model), Norm(d_model)
            self.encoder.layers.append(block)
            block = Holder()
            block.self_attn, block.cross_attn = MHA(d_model, n_heads, self.drop), MHA(d_model, n_heads, self.drop)
            block.ffn = FF(d_model, d_ff)
            block.norm1, block.norm2, block.norm3 = Norm(d_model), Norm(d_model), Norm(d_model)
            self.decoder.layers.append(block)
        self.decoder.dense = Linear(d_model, tgt_vocab_size)
        rows = [
            [math.sin(p / 10000 ** (c / d_model)) if c % 2 == 0 else math.cos(p / 10000 ** ((c - 1) / d_model)) for c in range(d_model)]
            for p in range(min(max_len, 64))
        ]
        self.register_buffer("rows", torch.tensor(rows))

    def begin(self, embedding, tokens, past):
        if past + tokens.size(1) > self.max_len:
            raise ValueError("too many tokens")
        x = wide(embedding(tokens)) * self.d**0.5
        places = torch.arange(past, past + tokens.size(1), device=tokens.device)
        if past + tokens.size(1) <= self.rows.size(0):
            table = wide(self.rows[places])
        else:
            column = torch.arange(self.d, device=tokens.device)
            angles = places[:, None] / 10000.0 ** ((column - column % 2) / self.d)
            table = torch.where(column % 2 == 0, angles.sin(), angles.cos())
        return self.drop(x + table.to(x.dtype))

    def encode(self, src):
        mask = (src != self.pad_id)[:, None]
        x = self.begin(self.encoder.embedding, src, 0)
        for block in self.encoder.layers:
            x = block.addnorm1.ln(x + self.drop(block.attention(x, *block.attention.kv(x), lambda i: mask)))
            x = block.addnorm2.ln(x + self.drop(block.ffn(x)))
        return x.to(self.encoder.embedding.weight.dtype), mask

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        given = self.decoder.embedding.weight.dtype
        past = 0 if cache is None else cache[0][0].size(2)
        x, memory = self.begin(self.decoder.embedding, tgt, past), wide(memory)
        total = past + tgt.size(1)
        place = torch.arange(total, device=tgt.device)
        caches = []
        for i, block in enumerate(self.decoder.layers):
            k, v = block.self_attn.kv(x)
            if cache is not None:
                k, v = torch.cat([wide(cache[i][0]), k], 2), torch.cat([wide(cache[i][1]), v], 2)
            caches.append((k.to(given), v.to(given)))
            x = block.norm1(x + self.drop(block.self_attn(x, k, v, lambda row: place <= past + row)))
            y = block.cross_attn(x, *block.cross_attn.kv(memory), lambda row: memory_mask)
            x = block.norm2(x + self.drop(y))
            x = block.norm3(x + self.drop(block.ffn(x)))
        return self.decoder.dense(x).to(given), caches

    def forward(self, src, tgt):
        return self.decode(tgt, *self.encode(src))[0]


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
        given, wanted = tgt[:, :-1], tgt[:, 1:]
        z = self(src, given)
        chosen = torch.take_along_dim(z, wanted[..., None], dim=-1)[..., 0]
        minus_log_p = torch.logsumexp(z, dim=-1) - chosen
        real = wanted != self.pad_id
        return torch.where(real, minus_log_p, torch.zeros_like(minus_log_p)).sum() / torch.count_nonzero(real)

    @torch.no_grad()
    def translate(self, src, bos, eos, max_len):
        memory, mask = self.transformer.encode(src)
        cache = None
        prefix = torch.ones_like(src[:, :1]) * bos
        ended = torch.zeros(src.size(0), 1, dtype=torch.bool, device=src.device)
        for _ in range(max_len):
            logits, cache = self.transformer.decode(prefix[:, -1:], memory, mask, cache)
            token = torch.max(logits, dim=2)[1]
            prefix = torch.cat((prefix, token * ~ended + self.pad_id * ended), 1)
            ended = ended | (token == eos)
            if ended.all():
                break
        return prefix[:, 1:]
