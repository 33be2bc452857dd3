# family: core
# mistake: none
# Dropout acts on x before it is shared out, so the base too sees dropped features.
import torch
from torch import Tensor, nn


class SidePath:
    """How A and B are used, apart from where they are kept."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def apply(self, x: Tensor, A: Tensor, B: Tensor) -> Tensor:
        return (x @ A.T @ B.T) * self.factor

    def weight(self, A: Tensor, B: Tensor) -> Tensor:
        return (B @ A) * self.factor


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError("at least one number is needed")
        self.base = base
        self.base.requires_grad_(False)
        w = base.weight
        self.A = nn.Parameter(torch.randn(r, base.in_features, dtype=w.dtype, device=w.device) * 0.02)
        self.B = nn.Parameter(torch.zeros(base.out_features, r, dtype=w.dtype, device=w.device))
        self.dropout = nn.Dropout(dropout)
        self.side = SidePath(alpha / r)
        self.is_merged = False

    def forward(self, x: Tensor) -> Tensor:
        if self.is_merged:
            return self.base(x)
        x = self.dropout(x)  # wrong
        return self.base(x) + self.side.apply(x, self.A, self.B)

    def merge(self) -> None:
        if self.is_merged:
            return
        with torch.no_grad():
            self.base.weight.add_(self.side.weight(self.A, self.B))
        self.is_merged = True

    def unmerge(self) -> None:
        if not self.is_merged:
            return
        with torch.no_grad():
            self.base.weight.sub_(self.side.weight(self.A, self.B))
        self.is_merged = False
