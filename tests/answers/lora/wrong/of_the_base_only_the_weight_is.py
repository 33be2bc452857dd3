# family: core
# mistake: bias-trained
# Of the base only the weight is frozen, its bias is trained on.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"r must be at least 1, not {r}")
        self.base = base
        self.base.weight.requires_grad_(False)  # wrong
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.randn(r, base.in_features, **like) * base.in_features**-0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.merged = False

    def forward(self, x: Tensor) -> Tensor:
        y = self.base(x)
        if self.merged:
            return y
        return y + F.linear(F.linear(self.dropout(x), self.A), self.B) * self.scale

    @torch.no_grad()
    def _shift(self, sign: int) -> None:
        self.base.weight.add_(self.B @ self.A, alpha=sign * self.scale)

    def merge(self) -> None:
        if not self.merged:
            self._shift(1)
            self.merged = True

    def unmerge(self) -> None:
        if self.merged:
            self._shift(-1)
            self.merged = False
