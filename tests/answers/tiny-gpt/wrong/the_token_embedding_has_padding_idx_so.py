# family: grad
# mistake: padding-idx
# The token embedding has padding_idx, so pad_id as an input token gets no gradient.
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    n = q.shape[-2]
    future = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(diagonal=1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1) @ v


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], x.shape[1], self.n_heads, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        context = causal_attention(self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x)))
        return self.W_o(context.transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.ModuleDict(
            {"dense1": nn.Linear(d_model, 4 * d_model), "dense2": nn.Linear(4 * d_model, d_model)}
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        hidden = F.gelu(self.ffn["dense1"](self.norm2(x)))
        return x + self.ffn["dense2"](hidden)


class TinyGPT(nn.Module):
    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.max_len = max_len
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model, padding_idx=pad_id)  # wrong
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        length = tokens.shape[1]
        if length > self.max_len:
            raise ValueError(f"{length} tokens, at most {self.max_len}")
        positions = torch.arange(length, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(positions)
        for block in self.blocks:
            x = block(x)
        logits = torch.matmul(self.norm(x), self.token_embedding.weight.transpose(0, 1))
        if targets is None:
            return logits, None
        precise = torch.promote_types(logits.dtype, torch.float32)
        predicted = logits[:, :-1].to(precise).reshape(-1, logits.shape[-1])
        wanted = targets[:, 1:].reshape(-1)
        counts = wanted != self.pad_id
        log_probs = predicted.log_softmax(dim=-1).gather(-1, wanted.unsqueeze(-1)).squeeze(-1)
        loss = -log_probs.masked_fill(~counts, 0.0).sum() / counts.sum()
        return logits, loss.to(logits.dtype)
