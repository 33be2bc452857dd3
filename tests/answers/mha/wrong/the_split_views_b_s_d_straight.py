# family: core
# mistake: split-without-transpose
# The split views (B, S, d) straight as (B, H, S, d_head), which mixes tokens and heads.
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads has to divide d_model")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)
        self.attn_dropout = nn.Dropout(dropout)

    def _heads(self, x: Tensor) -> Tensor:
        B, S, d = x.shape
        return x.reshape(B, self.n_heads, S, d // self.n_heads)  # wrong

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q = self._heads(self.W_q(q))
        k = self._heads(self.W_k(k))
        v = self._heads(self.W_v(v))
        if mask is None:
            mask = torch.ones(1, 1, dtype=torch.bool, device=q.device)
        if mask.dim() == 3:
            mask = mask[:, None]
        att = (q @ k.transpose(2, 3)) * (1.0 / q.size(-1) ** 0.5)
        att = att.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
        y = self.attn_dropout(att) @ v
        y = y.transpose(1, 2).flatten(2)
        return self.W_o(y), att
