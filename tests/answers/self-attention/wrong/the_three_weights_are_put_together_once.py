# family: core
# mistake: none
# The three weights are put together once, at the first call, and later loads or steps are not noticed.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """One matrix product for queries, keys and values."""

    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.sizes = (d_k, d_k, d_v if d_v is not None else d_k)
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, width, bias=bias) for width in self.sizes)
        self._fused: tuple[Tensor, Tensor | None] | None = None

    def _fuse(self) -> tuple[Tensor, Tensor | None]:
        layers = (self.W_q, self.W_k, self.W_v)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.W_q.bias is None else torch.cat([layer.bias for layer in layers])
        return weight, bias

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        if self._fused is None:  # wrong
            self._fused = self._fuse()
        q, k, v = F.linear(x, *self._fused).split(self.sizes, dim=-1)
        scores = torch.bmm(q * self.sizes[0] ** -0.5, k.transpose(1, 2))
        if mask is None:
            weights = F.softmax(scores, dim=-1)
        else:
            hidden = mask.logical_not()
            weights = F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1).masked_fill(hidden, 0.0)
        return torch.bmm(weights, v), weights
