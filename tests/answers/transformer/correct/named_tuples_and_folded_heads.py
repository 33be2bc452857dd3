import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Encoded(NamedTuple):
    memory: Tensor
    memory_mask: Tensor


class Pair(NamedTuple):
    keys: Tensor
    values: Tensor


class Decoded(NamedTuple):
    logits: Tensor
    cache: list


class Heads(nn.Module):
    def __init__(self, width, heads, rate):
        super().__init__()
        if width % heads != 0:
            raise ValueError("heads must divide the width")
        self.heads, self.rate = heads, rate
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(width, width))

    def pair(self, x) -> Pair:
        b, s, _ = x.shape
        return Pair(*(w(x).reshape(b, s, self.heads, -1).transpose(1, 2) for w in (self.W_k, self.W_v)))

    def forward(self, x, pair: Pair, bias, blind=None):
        b, n, d = x.shape
        m = pair.keys.size(2)
        q = self.W_q(x).reshape(b, n, self.heads, -1).transpose(1, 2).reshape(b * self.heads, n, -1)
        k, v = (t.reshape(b * self.heads, m, -1) for t in pair)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d // self.heads)
        if bias is not None:
            bias = bias.expand(b, self.heads, n, m).reshape(b * self.heads, n, m)
            scores = scores + bias
        weights = scores.softmax(dim=-1)
        if blind is not None:
            weights = weights * (~blind).expand(b, self.heads, n, 1).reshape(b * self.heads, n, 1)
        out = torch.bmm(F.dropout(weights, self.rate, self.training), v)
        return self.W_o(out.reshape(b, self.heads, n, -1).transpose(1, 2).reshape(b, n, d))


def additive(mask, like):
    """A bias of -inf for what is hidden, none at all for rows without anything visible, and which rows these are."""
    blind = ~mask.any(dim=-1, keepdim=True)
    return torch.zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill(~(mask | blind), -math.inf), blind


class FFN(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.dense1 = nn.Linear(width, hidden)
        self.dense2 = nn.Linear(hidden, width)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class AddNorm(nn.Module):
    def __init__(self, width, rate):
        super().__init__()
        self.ln, self.rate = nn.LayerNorm(width), rate

    def forward(self, x, y):
        return self.ln(F.dropout(y, self.rate, self.training).add(x))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, hidden, rate):
        super().__init__()
        self.attention = Heads(width, heads, rate)
        self.addnorm1 = AddNorm(width, rate)
        self.ffn = FFN(width, hidden)
        self.addnorm2 = AddNorm(width, rate)


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, hidden, rate):
        super().__init__()
        self.self_attn = Heads(width, heads, rate)
        self.norm1 = nn.LayerNorm(width)
        self.cross_attn = Heads(width, heads, rate)
        self.norm2 = nn.LayerNorm(width)
        self.ffn = FFN(width, hidden)
        self.norm3 = nn.LayerNorm(width)


class Side(nn.Module):
    def __init__(self, vocab, width, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(layers)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        self.root, self.pad, self.rate = math.sqrt(d_model), pad_id, dropout
        shape = (d_model, n_heads, d_ff, dropout)
        self.encoder = Side(src_vocab_size, d_model, [EncoderLayer(*shape) for _ in range(n_layers)])
        self.decoder = Side(tgt_vocab_size, d_model, [DecoderLayer(*shape) for _ in range(n_layers)])
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        steps = torch.arange(max_len, dtype=torch.float64).outer(10000.0 ** (-torch.arange(0, d_model, 2) / d_model).double())
        table = torch.stack([steps.sin(), steps.cos()], dim=-1).flatten(1)[:, :d_model]
        self.register_buffer("table", table.float(), persistent=False)

    def start(self, side, tokens, first):
        last = first + tokens.shape[1]
        if last > len(self.table):
            raise ValueError(f"position {last - 1} is beyond the table")
        x = torch.addcmul(self.table[first:last].to(side.embedding.weight.dtype), side.embedding(tokens), side.embedding.weight.new_tensor(self.root))
        return F.dropout(x, self.rate, training=self.training)

    def encode(self, src):
        mask = (src != self.pad).unsqueeze(-2)
        x = self.start(self.encoder, src, 0)
        bias, blind = additive(mask[:, None], x)
        for layer in self.encoder.layers:
            x = layer.addnorm1(x, layer.attention(x, layer.attention.pair(x), bias, blind))
            x = layer.addnorm2(x, layer.ffn(x))
        return Encoded(memory=x, memory_mask=mask)

    def drop(self, y):
        return F.dropout(y, self.rate, training=self.training)

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        past = cache[0][0].size(2) if cache else 0
        x = self.start(self.decoder, tgt, past)
        n = x.size(1)
        ahead = torch.full((n, past + n), -math.inf, dtype=x.dtype, device=x.device).triu(past + 1)
        bias, blind = (None, None) if memory_mask is None else additive(memory_mask[:, None], x)
        new = []
        for layer, old in zip(self.decoder.layers, cache or [None] * len(self.decoder.layers), strict=True):
            pair = layer.self_attn.pair(x)
            if old is not None:
                pair = Pair(torch.cat([old[0], pair.keys], 2), torch.cat([old[1], pair.values], 2))
            new.append(pair)
            x = layer.norm1(x + self.drop(layer.self_attn(x, pair, ahead)))
            x = layer.norm2(x + self.drop(layer.cross_attn(x, layer.cross_attn.pair(memory), bias, blind)))
            x = layer.norm3(x + self.drop(layer.ffn(x)))
        return Decoded(logits=self.decoder.dense(x), cache=new)

    def forward(self, src, tgt):
        return self.decode(tgt, *self.encode(src)).logits
