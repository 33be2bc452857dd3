# family: contract
# mistake: cache-list-reused
import math
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        B, S, D = x.shape
        return x.reshape(B, S, self.n_heads, D // self.n_heads).transpose(1, 2)

    def attend(self, q, k, v, keep=None):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if keep is not None:
            scores = scores.masked_fill(~keep, float("-inf"))
        w = torch.softmax(scores, dim=-1)
        if keep is not None:
            w = w.masked_fill(~keep, 0.0)
        o = self.dropout(w) @ v
        return self.W_o(o.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, keep):
        a = self.attention
        q, k, v = a.split(a.W_q(x)), a.split(a.W_k(x)), a.split(a.W_v(x))
        x = self.addnorm1(x, a.attend(q, k, v, keep))
        return self.addnorm2(x, self.ffn(x))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, keep, cache):
        a = self.self_attn
        q, k, v = a.split(a.W_q(x)), a.split(a.W_k(x)), a.split(a.W_v(x))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        n, T = q.size(2), k.size(2)
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        x = self.norm1(x + self.dropout(a.attend(q, k, v, causal)))
        c = self.cross_attn
        y = c.attend(c.split(c.W_q(x)), c.split(c.W_k(memory)), c.split(c.W_v(memory)), keep)
        x = self.norm2(x + self.dropout(y))
        return self.norm3(x + self.dropout(self.ffn(x))), (k, v)


class Encoder(nn.Module):
    def __init__(self, vocab, d_model, n_heads, d_ff, n_layers, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList(EncoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))


class Decoder(nn.Module):
    def __init__(self, vocab, d_model, n_heads, d_ff, n_layers, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList(DecoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.dense = nn.Linear(d_model, vocab)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers,
                 dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.encoder = Encoder(src_vocab_size, d_model, n_heads, d_ff, n_layers, dropout)
        self.decoder = Decoder(tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout)
        self.dropout = nn.Dropout(dropout)
        self.max_len, self.pad_id, self.d_model = max_len, pad_id, d_model
        pos = torch.arange(max_len, dtype=torch.float64)[:, None]
        col = torch.arange(d_model)
        angle = pos / 10000.0 ** (2 * (col // 2) / d_model).double()
        self.register_buffer("pe", torch.where(col % 2 == 0, angle.sin(), angle.cos()).float(), persistent=False)

    def embed(self, embedding, tokens, start):
        end = start + tokens.size(1)
        if end > self.max_len:
            raise ValueError("sequence too long")
        x = embedding(tokens) * math.sqrt(self.d_model)
        return self.dropout(x + self.pe[start:end].to(x.dtype))

    def encode(self, src):
        mask = (src != self.pad_id)[:, None, :]
        x = self.embed(self.encoder.embedding, src, 0)
        for layer in self.encoder.layers:
            x = layer(x, mask[:, None])
        return x, mask

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        start = 0 if cache is None or len(cache) == 0 else cache[0][0].size(2)
        x = self.embed(self.decoder.embedding, tgt, start)
        keep = None if memory_mask is None else memory_mask[:, None]
        old, new = None, []
        if cache is not None:
            old, new = list(cache), cache  # the same list again, with the longer pairs
            new.clear()
        for i, layer in enumerate(self.decoder.layers):
            x, pair = layer(x, memory, keep, None if old is None else old[i])
            new.append(pair)
        return self.decoder.dense(x), new

    def forward(self, src, tgt):
        return self.decode(tgt, *self.encode(src))[0]
