# family: core
# mistake: none
# In the encoder the input of the block, not that of the feed-forward network, is added to its output.
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def positions(max_len: int, d_model: int) -> Tensor:
    p = torch.arange(max_len, dtype=torch.float64)[:, None]
    w = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table = torch.empty(max_len, d_model, dtype=torch.float64)
    table[:, 0::2] = torch.sin(p * w)
    table[:, 1::2] = torch.cos(p * w[: d_model // 2])
    return table.float()


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        B, S, d = x.shape
        return x.reshape(B, S, self.n_heads, d // self.n_heads).transpose(1, 2)

    def keys_values(self, x):
        return self.split(self.W_k(x)), self.split(self.W_v(x))

    def attend(self, x, keys, values, mask):
        q = self.split(self.W_q(x))
        scores = q @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ values
        return self.W_o(context.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask):
        keys, values = self.attention.keys_values(x)
        y = self.addnorm1(x, self.attention.attend(x, keys, values, mask))
        return self.addnorm2(x, self.ffn(y))  # wrong


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = FFN(d_model, d_ff)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache, memory_mask):
        keys, values = self.self_attn.keys_values(x)
        if cache is not None:
            keys, values = torch.cat((cache[0], keys), dim=2), torch.cat((cache[1], values), dim=2)
        n, T = x.shape[1], keys.shape[2]
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        y = self.norm1(x + self.dropout(self.self_attn.attend(x, keys, values, causal)))
        mk, mv = self.cross_attn.keys_values(memory)
        z = self.norm2(y + self.dropout(self.cross_attn.attend(y, mk, mv, memory_mask)))
        return self.norm3(z + self.dropout(self.ffn(z))), (keys, values)


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers,
                 dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.d_model, self.max_len, self.pad_id = d_model, max_len, pad_id
        self.encoder = nn.Module()
        self.encoder.embedding = nn.Embedding(src_vocab_size, d_model)
        self.encoder.layers = nn.ModuleList(EncoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder = nn.Module()
        self.decoder.embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.decoder.layers = nn.ModuleList(DecoderBlock(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.register_buffer("pe", positions(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)

    def embed(self, embedding, ids, start):
        end = start + ids.shape[1]
        if end > self.max_len:
            raise ValueError(f"{end} tokens, but only {self.max_len} positions")
        x = embedding(ids) * math.sqrt(self.d_model)
        return self.dropout(x + self.pe[start:end].to(x.dtype))

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        mask = (src != self.pad_id).unsqueeze(1)
        x = self.embed(self.encoder.embedding, src, 0)
        for layer in self.encoder.layers:
            x = layer(x, mask)
        return x, mask

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        old = cache[0][0].shape[2] if cache else 0
        x = self.embed(self.decoder.embedding, tgt, old)
        new = []
        for i, layer in enumerate(self.decoder.layers):
            x, kv = layer(x, memory, cache[i] if cache else None, memory_mask)
            new.append(kv)
        return self.decoder.dense(x), new

    def forward(self, src, tgt):
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)[0]
