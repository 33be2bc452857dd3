# family: core
# mistake: weights-not-dropped
# No dropout on the attention weights.
import math
import torch
from torch import Tensor, nn


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, drop: nn.Module) -> Tensor:
    logits = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        weights = logits.softmax(-1)
    else:
        weights = logits.masked_fill(~mask, float("-inf")).softmax(-1)
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v  # wrong


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        split = lambda t: t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # noqa: E731
        ctx = attend(split(self.W_q(x)), split(self.W_k(x)), split(self.W_v(x)), mask, self.drop)
        return self.W_o(ctx.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, residual, out):
        return self.ln(residual + self.drop(out))


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.attention = SelfAttention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        x = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(x, self.ffn(x))
