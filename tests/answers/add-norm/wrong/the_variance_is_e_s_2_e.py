# family: core
# mistake: none
# The variance is E[s^2] - E[s]^2, which loses the deviations where the mean is far above them.
import torch
from torch import Tensor, nn


class AddNorm(nn.Module):
    """ln(x + dropout(y)), the norm spelled out."""

    def __init__(self, normalized_shape: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def _norm(self, s: Tensor) -> Tensor:
        wide = s.to(torch.promote_types(s.dtype, torch.float32))
        mean = wide.mean(dim=-1, keepdim=True)
        var = (wide * wide).mean(dim=-1, keepdim=True) - mean * mean  # wrong
        normed = (wide - mean) * torch.rsqrt(var.clamp(min=0) + self.ln.eps)
        return (normed * self.ln.weight + self.ln.bias).to(s.dtype)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self._norm(x + self.dropout(y))
