from typing import NamedTuple

import torch
from torch import Tensor, nn


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


def keep_softmax(scores: Tensor, keep: Tensor | None) -> Tensor:
    if keep is None:
        keep = torch.ones_like(scores, dtype=torch.bool)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(keep, scores, lowest).amax(-1, keepdim=True).detach()
    parts = torch.where(keep, scores - top, -torch.inf).exp()
    total = parts.sum(-1, keepdim=True)
    return parts / torch.where(total > 0, total, torch.ones_like(total))


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError((d_model, n_heads, n_kv_heads))
        self.d_head = d_model // n_heads
        self.W_q, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias) for _ in range(2))
        owner = torch.arange(n_heads) // (n_heads // n_kv_heads)
        self.register_buffer("owner", owner, persistent=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Attended:
        q = self.W_q(x).unflatten(2, (-1, self.d_head)).movedim(2, 1)
        k, v = (f(x).unflatten(2, (-1, self.d_head)).movedim(2, 1)[:, self.owner] for f in (self.W_k, self.W_v))
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(-3)
        weights = keep_softmax((q / self.d_head**0.5) @ k.transpose(-1, -2), mask)
        return Attended(self.W_o((weights @ v).movedim(1, 2).flatten(-2)), weights)
