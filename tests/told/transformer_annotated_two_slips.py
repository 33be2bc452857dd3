# kata: transformer
# names: encoder-embedding-not-scaled, positions-start-again
import math
import torch
from torch import nn

class MHA(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        if d % h: raise ValueError
        self.h = h; self.dk = d // h
        self.W_q = nn.Linear(d, d); self.W_k = nn.Linear(d, d); self.W_v = nn.Linear(d, d); self.W_o = nn.Linear(d, d)
        self.dropout = nn.Dropout(p)
    def split(self, x):
        return x.view(x.size(0), -1, self.h, self.dk).transpose(1, 2)
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.W_q(q)), self.split(self.W_k(k)), self.split(self.W_v(v))
        return self.attend(q, k, v, mask)
    def attend(self, q, k, v, mask):
        s = q @ k.transpose(-2, -1) / math.sqrt(self.dk)
        if mask is not None:
            if mask.dim() == 3: mask = mask.unsqueeze(1)
            s = s.masked_fill(~mask, float('-inf'))
        w = torch.softmax(s, -1)
        w = torch.nan_to_num(w)
        o = (self.dropout(w) @ v).transpose(1, 2).contiguous().view(q.size(0), -1, self.h * self.dk)
        return self.W_o(o)

class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1 = nn.Linear(d, f); self.dense2 = nn.Linear(f, d)
    def forward(self, x): return self.dense2(torch.relu(self.dense1(x)))

class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln = nn.LayerNorm(d); self.dropout = nn.Dropout(p)
    def forward(self, x, y): return self.ln(x + self.dropout(y))

class EncLayer(nn.Module):
    def __init__(self, d, h, f, p):
        super().__init__()
        self.attention = MHA(d, h, p); self.ffn = FFN(d, f); self.addnorm1 = AddNorm(d, p); self.addnorm2 = AddNorm(d, p)
    def forward(self, x, mask):
        x = self.addnorm1(x, self.attention(x, x, x, mask))
        return self.addnorm2(x, self.ffn(x))

class DecLayer(nn.Module):
    def __init__(self, d, h, f, p):
        super().__init__()
        self.self_attn = MHA(d, h, p); self.cross_attn = MHA(d, h, p); self.ffn = FFN(d, f)
        self.norm1 = nn.LayerNorm(d); self.norm2 = nn.LayerNorm(d); self.norm3 = nn.LayerNorm(d)
        self.dropout = nn.Dropout(p)
    def forward(self, x, memory, memory_mask, cache):
        a = self.self_attn
        k, v = a.split(a.W_k(x)), a.split(a.W_v(x))
        if cache is not None:
            k = torch.cat([cache[0], k], 2); v = torch.cat([cache[1], v], 2)
        n, T = x.size(1), k.size(2)
        mask = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        x = self.norm1(x + self.dropout(a.attend(a.split(a.W_q(x)), k, v, mask)))
        x = self.norm2(x + self.dropout(self.cross_attn(x, memory, memory, memory_mask)))
        x = self.norm3(x + self.dropout(self.ffn(x)))
        return x, (k, v)

class Stack(nn.Module):
    pass

class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.0, max_len=1000, pad_id=0):
        super().__init__()
        self.pad_id = pad_id; self.d_model = d_model; self.max_len = max_len
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)[:, : d_model // 2]
        self.register_buffer("pe", pe)
        self.encoder = Stack(); self.decoder = Stack()
        self.encoder.embedding = nn.Embedding(src_vocab_size, d_model)
        self.encoder.layers = nn.ModuleList([EncLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])
        self.decoder.embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.decoder.layers = nn.ModuleList([DecLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)])
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.dropout = nn.Dropout(dropout)

    def encode(self, src):
        if src.size(1) > self.max_len: raise ValueError
        mask = (src != self.pad_id).unsqueeze(1)
        x = self.dropout(self.encoder.embedding(src) + self.pe[: src.size(1)])  # wrong
        for l in self.encoder.layers:
            x = l(x, mask)
        return x, mask

    def decode(self, tgt, memory, memory_mask=None, cache=None):
        past = 0 if cache is None else cache[0][0].size(2)
        if past + tgt.size(1) > self.max_len: raise ValueError
        x = self.decoder.embedding(tgt) * math.sqrt(self.d_model) + self.pe[: tgt.size(1)]  # wrong
        x = self.dropout(x)
        new = []
        for i, l in enumerate(self.decoder.layers):
            x, c = l(x, memory, memory_mask, None if cache is None else cache[i])
            new.append(c)
        return self.decoder.dense(x), new

    def forward(self, src, tgt):
        return self.decode(tgt, *self.encode(src))[0]
