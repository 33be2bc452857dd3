# family: core
# mistake: softmax-over-queries
# The softmax runs over the queries (dim 1) instead of the keys.
import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias)
        self.W_k = nn.Linear(d_model, d_k, bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        s = torch.einsum("bid,bjd->bij", self.W_q(x), self.W_k(x)) / self.d_k**0.5
        keep = torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand_as(s)
        s = s.masked_fill(~keep, -torch.inf)
        s = s.masked_fill(~keep.any(2, keepdim=True), 0)
        w = s.softmax(1).masked_fill(~keep, 0)  # wrong
        return torch.einsum("bij,bjd->bid", w, self.W_v(x)), w
