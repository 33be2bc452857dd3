# family: core
# mistake: scale-d-model
# The scores are divided by the root of d_model instead of that of d_head.
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is no multiple of n_heads={n_heads}")
        self.H = n_heads
        self.scale = d_model**-0.5  # wrong
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
        self.drop = nn.Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        Q = self.W_q(q).unflatten(-1, (self.H, -1))  # b n h d
        K = self.W_k(k).unflatten(-1, (self.H, -1))
        V = self.W_v(v).unflatten(-1, (self.H, -1))
        S = torch.einsum("bnhd,bmhd->bhnm", Q * self.scale, K)
        if mask is None:
            A = S.softmax(-1)
        else:
            mask = (mask[:, None] if mask.ndim == 3 else mask).expand(S.shape)
            blind = ~mask.any(-1, keepdim=True)
            A = S.masked_fill(~mask, -torch.inf).masked_fill(blind, 0).softmax(-1).masked_fill(~mask, 0)
        C = torch.einsum("bhnm,bmhd->bnhd", self.drop(A), V)
        return self.W_o(C.flatten(-2)), A
