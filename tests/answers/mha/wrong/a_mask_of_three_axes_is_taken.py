# family: core
# mistake: none
# A mask of three axes is taken to be per head when its first size is the number of heads.
import torch
from torch import Tensor, nn


class _Core(nn.Module):
    """softmax(q kᵀ / √d) with heads in the second axis"""

    def __init__(self, p):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, q, k, v, keep):
        s = torch.einsum("bhnd,bhmd->bhnm", q, k) * q.shape[-1] ** -0.5
        if keep is None:
            w = s.softmax(-1)
        else:
            w = s.where(keep, s.new_tensor(float("-inf"))).softmax(-1).masked_fill(keep.logical_not(), 0)
        return torch.einsum("bhnm,bhmd->bhnd", self.drop(w), v), w


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not share {d_model} features evenly")
        self.n_heads = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))
        self.core = _Core(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        heads = [
            proj(t).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, t in ((self.W_q, q), (self.W_k, k), (self.W_v, v))
        ]
        if mask is not None and mask.dim() == 3:
            per_head = mask.shape[0] == self.n_heads  # wrong
            mask = mask[None] if per_head else mask[:, None]
        context, weights = self.core(*heads, mask)
        return self.W_o(context.transpose(1, 2).flatten(2)), weights
