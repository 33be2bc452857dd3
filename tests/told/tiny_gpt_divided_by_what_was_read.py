# kata: tiny-gpt
# names:
# lines: 3
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.W_q = nn.Linear(d, d)
        self.W_k = nn.Linear(d, d)
        self.W_v = nn.Linear(d, d)
        self.W_o = nn.Linear(d, d)
        self.h = h

    def forward(self, x):
        q, k, v = (w(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        s = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        n = x.size(1)
        s = s.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        c = torch.softmax(s, -1) @ v
        return self.W_o(c.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dense1 = nn.Linear(d, 4 * d)
        self.dense2 = nn.Linear(4 * d, d)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attention = Attention(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = FFN(d)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.pad_id = pad_id

    def forward(self, tokens, targets=None):
        n = tokens.size(1)
        if n > self.position_embedding.num_embeddings:
            raise ValueError("text too long")
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(n, device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.token_embedding.weight.t()
        if targets is None:
            return logits, None
        l = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=self.pad_id, reduction="sum")
        loss = l / (tokens[:, 1:] != self.pad_id).sum()  # wrong
        return logits, loss
