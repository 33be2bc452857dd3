# kata: mha
# names: mask-after-softmax
import torch
from torch import Tensor, nn
from torch.nn import functional as F


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).movedim(-2, 1)


def join_heads(x: Tensor) -> Tensor:
    return x.movedim(1, -2).flatten(-2)


def align_mask(mask: Tensor) -> Tensor:
    return mask[:, None] if mask.ndim == 3 else mask


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~align_mask(mask), 0.0)  # wrong
    return weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"cannot cut {d_model} features into {n_heads} heads")
        self.n_heads = n_heads
        self.p = dropout
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q_heads = split_heads(self.W_q(q), self.n_heads)
        k_heads = split_heads(self.W_k(k), self.n_heads)
        v_heads = split_heads(self.W_v(v), self.n_heads)
        weights = attention_weights(q_heads, k_heads, mask)
        context = F.dropout(weights, self.p, self.training) @ v_heads
        return self.W_o(join_heads(context)), weights
