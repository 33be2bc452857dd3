# family: core
# mistake: loss-not-shifted
# The targets are not shifted, position t is compared with targets[t].
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        B, S, d = x.shape
        q, k, v = (w(x).view(B, S, self.n_heads, -1).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        att = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        future = torch.ones(S, S, dtype=torch.bool, device=x.device).triu(1)
        att = att.masked_fill(future, float("-inf")).softmax(dim=-1)
        return self.W_o((att @ v).transpose(1, 2).reshape(B, S, d))


class MLP(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(F.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = MLP(d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.max_len, self.pad_id = max_len, pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, targets=None):
        B, S = tokens.shape
        if S > self.max_len:
            raise ValueError("text too long")
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(S, device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.token_embedding.weight.T
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=self.pad_id)  # wrong
        return logits, loss
