import math

import torch
import torch.nn.functional as F
from torch import nn


def wide(t):
    return t.float() if t.dtype in (torch.float16, torch.bfloat16) else t


def norm(layer, x):
    w = wide(x)
    return F.layer_norm(w, layer.normalized_shape, wide(layer.weight), wide(layer.bias), layer.eps).to(x.dtype)


class Attn(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in "qkvo":
            setattr(self, f"W_{name}", nn.Linear(d_model, d_model))

    def heads(self, t):
        return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        scores = wide(q) @ wide(k).transpose(-1, -2) / math.sqrt(q.size(-1))
        S = x.size(1)
        bias = torch.zeros(S, S, dtype=scores.dtype, device=x.device)
        bias = bias.masked_fill(torch.ones(S, S, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        probs = torch.softmax(scores + bias, dim=-1).to(x.dtype)
        return self.W_o((probs @ v).transpose(1, 2).reshape(x.shape))


class FFN(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_model * 4)
        self.dense2 = nn.Linear(d_model * 4, d_model)

    def forward(self, x):
        h = self.dense1(x)
        w = wide(h)
        return self.dense2((w * 0.5 * (1 + torch.erf(w / 2**0.5))).to(h.dtype))


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d_model), Attn(d_model, n_heads)
        self.norm2, self.ffn = nn.LayerNorm(d_model), FFN(d_model)

    def forward(self, x):
        x = x + self.attention(norm(self.norm1, x))
        return x + self.ffn(norm(self.norm2, x))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("bad sizes")
        self.max_len, self.pad_id = max_len, pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.token_embedding.weight = self.head.weight

    def forward(self, tokens, targets=None):
        S = tokens.size(-1)
        if S > self.max_len:
            raise ValueError("too long")
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(S, device=tokens.device)).unsqueeze(0)
        for block in self.blocks:
            x = block(x)
        logits = self.head(norm(self.norm, x))
        loss = None
        if targets is not None:
            flat = wide(logits[:, :-1]).reshape(-1, logits.size(-1))
            loss = F.cross_entropy(flat, targets[:, 1:].reshape(-1), ignore_index=self.pad_id).to(logits.dtype)
        return logits, loss
