import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, h, max_len):
        super().__init__()
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.register_buffer("causal", torch.tril(torch.ones(max_len, max_len)).bool(), persistent=False)

    def forward(self, x):
        B, S, D = x.shape
        q, k, v = (w(x).view(B, S, self.h, -1).permute(0, 2, 1, 3) for w in (self.W_q, self.W_k, self.W_v))
        att = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(D // self.h)
        att = torch.where(self.causal[:S, :S], att, torch.tensor(float("-inf"), dtype=att.dtype, device=att.device))
        att = att - att.amax(-1, keepdim=True)
        att = att.exp()
        att = att / att.sum(-1, keepdim=True)
        y = torch.einsum("bhij,bhjd->bihd", att, v).reshape(B, S, D)
        return self.W_o(y)


class MLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dense1, self.act, self.dense2 = nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)

    def forward(self, x):
        return self.dense2(self.act(self.dense1(x)))


class Layer(nn.Module):
    def __init__(self, d, h, max_len):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention, self.ffn = Attention(d, h, max_len), MLP(d)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.max_len, self.pad_id = max_len, pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Layer(d_model, n_heads, max_len) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, targets=None):
        B, S = tokens.shape
        if S > self.max_len:
            raise ValueError("text too long")
        x = self.token_embedding(tokens) + self.position_embedding.weight[:S]
        for layer in self.blocks:
            x = layer(x)
        logits = self.norm(x) @ self.token_embedding.weight.T
        if targets is None:
            return logits, None
        logp = logits[:, :-1].log_softmax(-1)
        nxt = targets[:, 1:]
        picked = logp.gather(-1, nxt.unsqueeze(-1)).squeeze(-1)
        counts = (nxt != self.pad_id).to(picked.dtype)
        return logits, -(picked * counts).sum() / counts.sum()
