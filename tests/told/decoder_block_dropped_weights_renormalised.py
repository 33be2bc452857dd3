# kata: decoder-block
# names:
import torch
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.W_q = nn.Linear(d, d)
        self.W_k = nn.Linear(d, d)
        self.W_v = nn.Linear(d, d)
        self.W_o = nn.Linear(d, d)
        self.h = h
        self.dropout = nn.Dropout(p)

    def split(self, x):
        return x.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x, k, v, mask=None):
        q = self.split(self.W_q(x))
        s = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is None:
            w = torch.softmax(s, -1)
        else:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            s = s.masked_fill(~mask, float("-inf"))
            s = s.masked_fill(~mask.any(-1, keepdim=True), 0.0)
            w = torch.softmax(s, -1).masked_fill(~mask, 0.0)
        d = self.dropout(w)
        c = (d / d.sum(-1, keepdim=True).clamp_min(1e-9) if self.training and self.dropout.p else d) @ v  # wrong
        return self.W_o(c.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1 = nn.Linear(d, f)
        self.dense2 = nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        a, c = self.self_attn, self.cross_attn
        k, v = a.split(a.W_k(x)), a.split(a.W_v(x))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n, t = x.size(1), k.size(2)
        causal = torch.ones(n, t, dtype=torch.bool, device=x.device).tril(t - n)
        y = self.norm1(x + self.dropout(a(x, k, v, causal)))
        z = self.norm2(y + self.dropout(c(y, c.split(c.W_k(memory)), c.split(c.W_v(memory)), memory_mask)))
        return self.norm3(z + self.dropout(self.ffn(z))), (k, v)
