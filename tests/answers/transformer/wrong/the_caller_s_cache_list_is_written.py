# family: core
# mistake: cache-list-reused
# The caller's cache list is written in place, so two continuations of one prefix disturb each other.
import torch
import torch.nn.functional as F
from torch import nn


def pe_table(n, d):
    i = torch.arange(d)
    w = torch.pow(10000.0, -(i - i % 2).to(torch.float32) / d)
    a = torch.outer(torch.arange(n, dtype=torch.float32), w)
    return torch.where(i % 2 == 0, a.sin(), a.cos())


class MHA(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.dh = h, d // h
        for w in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, w, nn.Linear(d, d))
        self.drop = nn.Dropout(p)

    def heads(self, t):
        return t.view(t.shape[0], t.shape[1], self.h, self.dh).permute(0, 2, 1, 3)

    def forward(self, x, source, mask=None, past=None):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(source)), self.heads(self.W_v(source))
        if past is not None:
            k = torch.cat((past[0], k), dim=2)
            v = torch.cat((past[1], v), dim=2)
        s = torch.einsum("bhnd,bhmd->bhnm", q, k) / self.dh**0.5
        if mask is None:
            w = F.softmax(s, dim=-1)
        else:
            mask = mask[:, None] if mask.ndim == 3 else mask
            w = F.softmax(s.masked_fill(~mask, -torch.inf), dim=-1).masked_fill(~mask, 0.0)
        o = torch.einsum("bhnm,bhmd->bnhd", self.drop(w), v)
        return self.W_o(o.flatten(2)), (k, v)


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class LN(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln = nn.LayerNorm(d)

    def forward(self, x):
        return self.ln(x)


class Enc(nn.Module):
    def __init__(self, d, h, f, p):
        super().__init__()
        self.attention, self.ffn = MHA(d, h, p), FFN(d, f)
        self.addnorm1, self.addnorm2 = LN(d), LN(d)
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        x = self.addnorm1(x + self.drop(self.attention(x, x, mask)[0]))
        return self.addnorm2(x + self.drop(self.ffn(x)))


class Dec(nn.Module):
    def __init__(self, d, h, f, p):
        super().__init__()
        self.self_attn, self.cross_attn, self.ffn = MHA(d, h, p), MHA(d, h, p), FFN(d, f)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def forward(self, x, memory, memory_mask, past):
        t0 = 0 if past is None else past[0].shape[2]
        t1 = t0 + x.shape[1]
        pos = torch.arange(t1, device=x.device)
        causal = pos[None, :] <= pos[t0:, None]
        a, kv = self.self_attn(x, x, causal, past)
        x = self.norm1(x + self.drop(a))
        x = self.norm2(x + self.drop(self.cross_attn(x, memory, memory_mask)[0]))
        return self.norm3(x + self.drop(self.ffn(x))), kv


class Transformer(nn.Module):
    def __init__(
        self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0
    ):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads, d_model {d_model}")
        self.encoder, self.decoder = nn.Module(), nn.Module()
        self.encoder.embedding = nn.Embedding(src_vocab_size, d_model)
        self.encoder.layers = nn.ModuleList(Enc(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder.embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.decoder.layers = nn.ModuleList(Dec(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.register_buffer("pe", pe_table(max_len, d_model), persistent=False)
        self.drop = nn.Dropout(dropout)
        self.scale = d_model**0.5
        self.pad_id = pad_id

    def encode(self, src):
        S = src.shape[1]
        if S > len(self.pe):
            raise ValueError("source too long")
        mask = src.ne(self.pad_id)[:, None, :]
        emb = self.encoder.embedding(src)
        h = self.drop(self.scale * emb + self.pe[:S].to(emb.dtype))
        for layer in self.encoder.layers:
            h = layer(h, mask)
        return h, mask

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        cache = cache or [None] * len(self.decoder.layers)  # wrong
        start = cache[0][0].shape[2] if cache and cache[0] is not None else 0
        stop = start + tgt.shape[1]
        if stop > len(self.pe):
            raise ValueError("target too long")
        emb = self.decoder.embedding(tgt)
        h = self.drop(self.scale * emb + self.pe[start:stop].to(emb.dtype))
        for i, layer in enumerate(self.decoder.layers):
            h, cache[i] = layer(h, memory, memory_mask, cache[i])
        return self.decoder.dense(h), cache

    def forward(self, src, tgt):
        logits, _ = self.decode(tgt, *self.encode(src))
        return logits
