# family: core
# mistake: none
# The loss leaves out places where the tokens are padding, not those where the targets are.
import math

import torch
from torch import nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        for name in "qkvo":
            self.add_module("W_" + name, nn.Linear(dim, dim))
        self.heads = heads

    def forward(self, x):
        q, k, v = [w(x).unflatten(-1, (self.heads, -1)) for w in (self.W_q, self.W_k, self.W_v)]
        att = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.size(-1))
        i = torch.arange(x.size(1), device=x.device)
        att = att.masked_fill(i[None, :] > i[:, None], float("-inf")).softmax(-1)
        return self.W_o(torch.einsum("bhij,bjhd->bihd", att, v).flatten(2))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = CausalSelfAttention(dim, heads)
        self.ffn = nn.Sequential()
        self.ffn.add_module("dense1", nn.Linear(dim, 4 * dim))
        self.ffn.add_module("gelu", nn.GELU())
        self.ffn.add_module("dense2", nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model={d_model} cannot be cut into {n_heads} heads")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.pad_id = pad_id

    def hidden(self, tokens):
        length = tokens.size(1)
        if length > self.position_embedding.num_embeddings:
            raise ValueError("text too long")
        x = self.token_embedding(tokens) + self.position_embedding.weight[:length]
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def loss(self, logits, tokens, targets):
        nll = F.cross_entropy(logits[:, :-1].transpose(1, 2), targets[:, 1:], reduction="none")
        real = tokens[:, 1:] != self.pad_id  # wrong
        return nll.masked_fill(~real, 0.0).sum() / real.sum()

    def forward(self, tokens, targets=None):
        logits = F.linear(self.hidden(tokens), self.token_embedding.weight)
        return logits, None if targets is None else self.loss(logits, tokens, targets)
