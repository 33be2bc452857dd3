# family: core
# mistake: loss-mean-of-texts
# The loss is the mean of the texts' means, not the mean over all targets of the batch.
import math

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        if n_head < 1 or n_embd % n_head != 0:
            raise ValueError("n_heads must divide d_model")
        self.W_q = nn.Linear(n_embd, n_embd)
        self.W_k = nn.Linear(n_embd, n_embd)
        self.W_v = nn.Linear(n_embd, n_embd)
        self.W_o = nn.Linear(n_embd, n_embd)
        self.n_head = n_head

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q = self.W_q(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, nh, T, hs)
        k = self.W_k(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
        att = att.masked_fill(~causal, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y)


class MLP(nn.Module):
    def __init__(self, n_embd: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(n_embd, 4 * n_embd)
        self.gelu = nn.GELU()
        self.dense2 = nn.Linear(4 * n_embd, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, n_embd: int, n_head: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(n_embd)
        self.attention = CausalSelfAttention(n_embd, n_head)
        self.norm2 = nn.LayerNorm(n_embd)
        self.ffn = MLP(n_embd)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.max_len, self.pad_id = max_len, pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        B, T = tokens.size()
        if T > self.max_len:
            raise ValueError(f"cannot forward a text of {T} tokens, max_len is only {self.max_len}")
        pos = torch.arange(T, dtype=torch.long, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(pos)
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.token_embedding.weight)
        loss = None
        if targets is not None:
            wide = torch.promote_types(logits.dtype, torch.float32)
            nll = F.cross_entropy(
                logits[:, :-1].transpose(1, 2).to(wide), targets[:, 1:], ignore_index=self.pad_id, reduction="none"
            )
            counted = targets[:, 1:] != self.pad_id
            loss = (nll.sum(1) / counted.sum(1).clamp(min=1)).mean()  # wrong
            loss = loss.to(logits.dtype)
        return logits, loss
