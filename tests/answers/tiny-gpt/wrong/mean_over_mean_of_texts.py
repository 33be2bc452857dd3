# family: core
# mistake: loss-mean-of-texts
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        n = config["d_model"]
        self.n_head = config["n_heads"]
        self.W_q = nn.Linear(n, n)
        self.W_k = nn.Linear(n, n)
        self.W_v = nn.Linear(n, n)
        self.W_o = nn.Linear(n, n)
        self.register_buffer("bias", torch.tril(torch.ones(config["max_len"], config["max_len"]))[None, None])

    def forward(self, x):
        B, T, C = x.size()
        k = self.W_k(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.W_q(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y)


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense1 = nn.Linear(config["d_model"], 4 * config["d_model"])
        self.dense2 = nn.Linear(4 * config["d_model"], config["d_model"])

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config["d_model"])
        self.attention = CausalSelfAttention(config)
        self.norm2 = nn.LayerNorm(config["d_model"])
        self.ffn = MLP(config)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.config = dict(d_model=d_model, n_heads=n_heads, max_len=max_len)
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(self.config) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.lm_head.weight = self.token_embedding.weight
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens, targets=None):
        b, t = tokens.size()
        if t > self.config["max_len"]:
            raise ValueError(f"Cannot forward sequence of length {t}")
        pos = torch.arange(0, t, dtype=torch.long, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(pos)
        for block in self.blocks:
            x = block(x)
        logits = self.lm_head(self.norm(x))
        loss = None
        if targets is not None:
            losses = []
            for i in range(b):
                losses.append(F.cross_entropy(logits[i, :-1], targets[i, 1:], ignore_index=self.pad_id))
            loss = torch.stack(losses).mean()
        return logits, loss
