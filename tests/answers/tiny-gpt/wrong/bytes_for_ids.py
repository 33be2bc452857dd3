# family: core
# mistake: none
"""Reads ids as bytes."""

import math
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        x = x.view(batch, length, self.n_heads, self.d_head)
        return x.transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        queries = self.split_heads(self.W_q(x))
        keys = self.split_heads(self.W_k(x))
        values = self.split_heads(self.W_v(x))
        length = x.size(1)
        visible = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)
        scores = scores.masked_fill(~visible, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        context = weights @ values
        context = context.transpose(1, 2).flatten(2)
        return self.W_o(context)


class FeedForward(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, 4 * d_model)
        self.dense2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.gelu(self.dense1(x))
        return self.dense2(hidden)


class Block(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = FeedForward(d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.max_len = max_len
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        length = tokens.size(1)
        if length > self.max_len:
            raise ValueError(f"{length} tokens are more than max_len {self.max_len}")
        positions = torch.arange(length, device=tokens.device)
        x = self.token_embedding(tokens % 256) + self.position_embedding(positions)
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.token_embedding.weight)
        loss = None
        if targets is not None:
            predictions = logits[:, :-1].flatten(0, 1)
            following = targets[:, 1:].flatten()
            loss = F.cross_entropy(predictions, following, ignore_index=self.pad_id)
        return (logits, loss)
