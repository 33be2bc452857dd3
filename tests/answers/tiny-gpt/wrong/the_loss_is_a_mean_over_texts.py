# family: core
# mistake: loss-mean-of-texts
# The loss is a mean over texts of their means, not one mean over all targets that count.
from dataclasses import dataclass
from typing import Optional, Tuple

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int
    d_model: int
    n_heads: int
    n_layers: int
    max_len: int
    pad_id: int

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads:
            raise ValueError("d_model must be a multiple of n_heads")


class MultiHead(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.cfg = cfg
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(cfg.d_model, cfg.d_model) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        d = self.cfg.d_model // self.cfg.n_heads
        mask = torch.tril(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device))
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        contexts = []
        for qh, kh, vh in zip(q.split(d, -1), k.split(d, -1), v.split(d, -1)):
            scores = (qh @ kh.mT) * d**-0.5
            contexts.append(torch.where(mask, scores, -torch.inf).softmax(-1) @ vh)
        return self.W_o(torch.cat(contexts, -1))


class MLP(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(width, width * 4)
        self.dense2 = nn.Linear(width * 4, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(nn.functional.gelu(self.dense1(x), approximate="none"))


class Layer(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(cfg.d_model)
        self.attention = MultiHead(cfg)
        self.norm2 = nn.LayerNorm(cfg.d_model)
        self.ffn = MLP(cfg.d_model)

    def forward(self, x: Tensor) -> Tensor:
        y = x + self.attention(self.norm1(x))
        return y + self.ffn(self.norm2(y))


class TinyGPT(nn.Module):
    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        self.cfg = cfg = Config(vocab_size, d_model, n_heads, n_layers, max_len, pad_id)
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Layer(cfg) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Optional[Tensor] = None) -> Tuple[Tensor, Optional[Tensor]]:
        if tokens.shape[1] > self.cfg.max_len:
            raise ValueError(f"only {self.cfg.max_len} positions")
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(places)
        for block in self.blocks:
            x = block(x)
        logits = torch.matmul(self.norm(x), self.token_embedding.weight.t())
        if targets is None:
            return logits, None
        nxt = targets[:, 1:]
        counts = nxt != self.cfg.pad_id
        logp = logits[:, :-1].log_softmax(-1).gather(-1, nxt.unsqueeze(-1)).squeeze(-1)
        per_text = -(logp * counts).sum(1) / counts.sum(1).clamp(min=1)
        return logits, per_text.mean()  # wrong
