# family: core
# mistake: causal-top-left
# The causal mask takes the new tokens for the first of the T positions: behind a cache they miss T - n keys.
import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: nn.Dropout) -> Tensor:
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)
    return drop(weights) @ v


class Projections(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x: Tensor) -> Tensor:
        return self.W_o(x.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(torch.relu(self.dense1(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.self_attn = Projections(d_model, n_heads)
        self.cross_attn = Projections(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, memory: Tensor, cache: Cache | None = None, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        sa, ca = self.self_attn, self.cross_attn
        k, v = sa.split(sa.W_k(x)), sa.split(sa.W_v(x))
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        n, total = x.shape[1], k.shape[2]
        causal = torch.ones(n, total, dtype=torch.bool, device=x.device).tril()  # wrong
        y = self.norm1(x + self.drop(sa.merge(attend(sa.split(sa.W_q(x)), k, v, causal, self.drop))))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        q, mk, mv = ca.split(ca.W_q(y)), ca.split(ca.W_k(memory)), ca.split(ca.W_v(memory))
        z = self.norm2(y + self.drop(ca.merge(attend(q, mk, mv, memory_mask, self.drop))))
        return self.norm3(z + self.drop(self.ffn(z))), (k, v)
