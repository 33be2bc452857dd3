# family: contract
# mistake: none
# The tokens in the cache do not count for max_len.
import math

import torch
from torch import nn
from torch.nn import functional as F

# --- functions ------------------------------------------------------------------------------------------------------


def pe_table(max_len, d):
    # one position after the other column by column would be slow, so all at once
    pos = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
    freq = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * (-math.log(10000.0) / d))
    both = torch.stack([torch.sin(pos * freq), torch.cos(pos * freq)], dim=2)
    return both.reshape(max_len, -1)[:, :d].to(torch.float32)


def to_heads(x, h):
    return x.reshape(x.shape[0], x.shape[1], h, x.shape[2] // h).permute(0, 2, 1, 3)


def weights_of(q, k, keep):
    s = torch.matmul(q, k.transpose(2, 3)) / q.shape[-1] ** 0.5
    if keep is None:
        return F.softmax(s, dim=-1)
    if keep.dim() == 3:
        keep = keep[:, None]
    s = s.masked_fill(keep.logical_not(), float("-inf"))
    return F.softmax(s, dim=-1).masked_fill(keep.logical_not(), 0.0)


# --- parts ----------------------------------------------------------------------------------------------------------


class Projections(nn.Module):
    def __init__(self, d):
        super().__init__()
        for letter in ("q", "k", "v", "o"):
            setattr(self, "W_" + letter, nn.Linear(d, d))


class FFN(nn.Module):
    def __init__(self, d, d_ff):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, d_ff), nn.Linear(d_ff, d)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class WithNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln = nn.LayerNorm(d)


class EncoderBlock(nn.Module):
    def __init__(self, d, d_ff):
        super().__init__()
        self.attention = Projections(d)
        self.ffn = FFN(d, d_ff)
        self.addnorm1 = WithNorm(d)
        self.addnorm2 = WithNorm(d)


class DecoderBlock(nn.Module):
    def __init__(self, d, d_ff):
        super().__init__()
        self.self_attn = Projections(d)
        self.cross_attn = Projections(d)
        self.ffn = FFN(d, d_ff)
        self.norm1 = nn.LayerNorm(d)
        self.norm2 = nn.LayerNorm(d)
        self.norm3 = nn.LayerNorm(d)


class Side(nn.Module):
    def __init__(self, vocab, d, blocks):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(blocks)


# --- the machine ----------------------------------------------------------------------------------------------------


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000,
                 pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model is not a multiple of n_heads")
        self.h, self.d, self.p, self.max_len, self.pad_id = n_heads, d_model, dropout, max_len, pad_id
        self.encoder = Side(src_vocab_size, d_model, [EncoderBlock(d_model, d_ff) for _ in range(n_layers)])
        self.decoder = Side(tgt_vocab_size, d_model, [DecoderBlock(d_model, d_ff) for _ in range(n_layers)])
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.register_buffer("pe", pe_table(max_len, d_model), persistent=False)

    def drop(self, x):
        return F.dropout(x, self.p, self.training)

    def attend(self, a, x, k, v, keep):
        w = self.drop(weights_of(to_heads(a.W_q(x), self.h), k, keep))
        return a.W_o(torch.matmul(w, v).permute(0, 2, 1, 3).reshape(x.shape))

    def kv(self, a, x):
        return to_heads(a.W_k(x), self.h), to_heads(a.W_v(x), self.h)

    def start(self, embedding, ids, first):
        x = embedding(ids) * self.d ** 0.5
        return self.drop(x + self.pe[first:first + ids.shape[1]].to(x.dtype))

    def encode(self, src):
        if src.shape[1] > self.max_len:
            raise ValueError("source too long")
        keep = (src != self.pad_id)[:, None, :]
        x = self.start(self.encoder.embedding, src, 0)
        for b in self.encoder.layers:
            k, v = self.kv(b.attention, x)
            x = b.addnorm1.ln(x + self.drop(self.attend(b.attention, x, k, v, keep)))
            x = b.addnorm2.ln(x + self.drop(b.ffn(x)))
        return x, keep

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        n = tgt.shape[1]
        old = 0 if not cache else cache[0][0].shape[2]
        if n > self.max_len:  # wrong
            raise ValueError("target too long")
        x = self.start(self.decoder.embedding, tgt, old)
        causal = torch.ones(n, old + n, dtype=torch.bool, device=tgt.device).tril(old)
        grown = []
        for i, b in enumerate(self.decoder.layers):
            k, v = self.kv(b.self_attn, x)
            if cache:
                k, v = torch.cat([cache[i][0], k], dim=2), torch.cat([cache[i][1], v], dim=2)
            grown.append((k, v))
            x = b.norm1(x + self.drop(self.attend(b.self_attn, x, k, v, causal)))
            mk, mv = self.kv(b.cross_attn, memory)
            x = b.norm2(x + self.drop(self.attend(b.cross_attn, x, mk, mv, memory_mask)))
            x = b.norm3(x + self.drop(b.ffn(x)))
        return self.decoder.dense(x), grown

    def forward(self, src, tgt):
        memory, keep = self.encode(src)
        logits, _ = self.decode(tgt, memory, keep)
        return logits
