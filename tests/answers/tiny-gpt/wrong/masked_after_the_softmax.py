# family: mask
# mistake: masked-after-softmax
import math
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, x):
        B, S, D = x.shape
        return x.view(B, S, self.n_heads, D // self.n_heads).transpose(1, 2)

    def forward(self, x):
        B, S, D = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // self.n_heads)
        hidden = torch.ones(S, S, dtype=torch.bool, device=x.device).triu(1)
        w = torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)
        return self.W_o((w @ v).transpose(1, 2).reshape(B, S, D))


class FFN(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = FFN(d_model)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.max_len = max_len
        self.pad_id = pad_id

    def forward(self, tokens, targets=None):
        S = tokens.size(1)
        if S > self.max_len:
            raise ValueError("text too long")
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(S, device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.token_embedding.weight.T
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=self.pad_id)
        return logits, loss

