# sums over steps with one-hot targets; writes into a tensor made beforehand
"""forward writes one token after the other; positions are made when they are needed."""
import math

import torch
from torch import nn


def bag(**layers):
    return nn.ModuleDict(layers)


def projections(d):
    return bag(W_q=nn.Linear(d, d), W_k=nn.Linear(d, d), W_v=nn.Linear(d, d), W_o=nn.Linear(d, d))


def feed_forward(d, f):
    return bag(dense1=nn.Linear(d, f), dense2=nn.Linear(f, d))


def sinusoids(start, end, width, like):
    position = torch.arange(start, end, dtype=torch.float64, device=like.device)[:, None]
    column = torch.arange(width, device=like.device)
    angle = position * 10000.0 ** (-(column - column % 2).double() / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).to(like.dtype)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads for a width of {d_model}")
        self.heads, self.width, self.max_len, self.pad_id = n_heads, d_model, max_len, pad_id
        self.drop = nn.Dropout(dropout)
        d = d_model
        self.encoder = bag(
            embedding=nn.Embedding(src_vocab_size, d),
            layers=nn.ModuleList(
                bag(
                    attention=projections(d),
                    addnorm1=bag(ln=nn.LayerNorm(d)),
                    ffn=feed_forward(d, d_ff),
                    addnorm2=bag(ln=nn.LayerNorm(d)),
                )
                for _ in range(n_layers)
            ),
        )
        self.decoder = bag(
            embedding=nn.Embedding(tgt_vocab_size, d),
            layers=nn.ModuleList(
                bag(
                    self_attn=projections(d),
                    cross_attn=projections(d),
                    ffn=feed_forward(d, d_ff),
                    norm1=nn.LayerNorm(d),
                    norm2=nn.LayerNorm(d),
                    norm3=nn.LayerNorm(d),
                )
                for _ in range(n_layers)
            ),
            dense=nn.Linear(d, tgt_vocab_size),
        )

    def embed(self, table, tokens, start=0):
        end = start + tokens.size(1)
        if end > self.max_len:
            raise ValueError("too long")
        x = table(tokens) * math.sqrt(self.width)
        return self.drop(x + sinusoids(start, end, self.width, x))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def pair(self, layer, source):
        return self.split(layer["W_k"](source)), self.split(layer["W_v"](source))

    def attend(self, layer, x, keys, values, visible):
        queries = self.split(layer["W_q"](x))
        outs = []
        for h in range(self.heads):
            scores = queries[:, h] @ keys[:, h].transpose(1, 2) * (self.width // self.heads) ** -0.5
            if visible is not None:
                shown = visible.expand_as(scores)
                top = scores.masked_fill(~shown, torch.finfo(scores.dtype).min).amax(-1, keepdim=True).detach()
                parts = (scores - top).masked_fill(~shown, -torch.inf).exp()
                weights = parts / parts.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)
            else:
                weights = scores.softmax(-1)
            outs.append(self.drop(weights) @ values[:, h])
        return layer["W_o"](torch.cat(outs, -1))

    def feed(self, layer, x):
        return layer["dense2"](layer["dense1"](x).clamp(min=0))

    def encode(self, src):
        real = (src != self.pad_id)[:, None]
        x = self.embed(self.encoder["embedding"], src)
        for layer in self.encoder["layers"]:
            y = self.attend(layer["attention"], x, *self.pair(layer["attention"], x), real)
            x = layer["addnorm1"]["ln"](x + self.drop(y))
            x = layer["addnorm2"]["ln"](x + self.drop(self.feed(layer["ffn"], x)))
        return x, real

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        past = 0 if cache is None else cache[0][0].size(2)
        x = self.embed(self.decoder["embedding"], tgt, past)
        n = tgt.size(1)
        causal = torch.ones(n, past + n, dtype=torch.bool, device=x.device).tril(past)
        fresh = []
        for i, layer in enumerate(self.decoder["layers"]):
            k, v = self.pair(layer["self_attn"], x)
            if past:
                k, v = torch.cat([cache[i][0], k], 2), torch.cat([cache[i][1], v], 2)
            fresh.append((k, v))
            x = layer["norm1"](x + self.drop(self.attend(layer["self_attn"], x, k, v, causal)))
            y = self.attend(layer["cross_attn"], x, *self.pair(layer["cross_attn"], memory), memory_mask)
            x = layer["norm2"](x + self.drop(y))
            x = layer["norm3"](x + self.drop(self.feed(layer["ffn"], x)))
        return self.decoder["dense"](x), fresh

    def forward(self, src, tgt):
        memory, real = self.encode(src)
        if tgt.size(1) > self.max_len:
            raise ValueError("too long")
        logits, cache = [], None
        for step in range(tgt.size(1)):
            part, cache = self.decode(tgt[:, step : step + 1], memory, real, cache)
            logits.append(part)
        return torch.cat(logits, dim=1)


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
        total, count = 0.0, 0
        for i in range(logits.shape[1]):
            wanted = tgt[:, i + 1]
            one_hot = nn.functional.one_hot(wanted, logits.shape[2]).to(logits.dtype)
            surprise = -(logits[:, i].log_softmax(-1) * one_hot).sum(-1)
            total = total + surprise.masked_fill(wanted == self.pad_id, 0).sum()
            count = count + (wanted != self.pad_id).sum()
        return total / count

    def translate(self, src, bos, eos, max_len):
        with torch.no_grad():
            memory, mask = self.transformer.encode(src)
            cache = None
            out = src.new_full((src.shape[0], max_len), self.pad_id)
            last = src.new_full((src.shape[0],), bos)
            going = torch.ones_like(last, dtype=torch.bool)
            for t in range(max_len):
                logits, cache = self.transformer.decode(last.unsqueeze(1), memory, mask, cache)
                last = logits[:, -1].argmax(-1)
                out[:, t] = torch.where(going, last, out[:, t])
                going &= last != eos
                if not going.any():
                    return out[:, : t + 1]
            return out
