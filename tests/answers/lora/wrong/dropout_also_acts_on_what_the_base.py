# family: core
# mistake: none
# Dropout also acts on what the base sees.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"r = {r}")
        out_features, in_features = base.weight.shape
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(0.02 * torch.randn(r, in_features).to(base.weight))
        self.B = nn.Parameter(base.weight.new_zeros(out_features, r))
        self.r, self.alpha, self.p = r, alpha, dropout
        self.is_merged = False

    def delta(self) -> Tensor:
        return (self.alpha / self.r) * (self.B @ self.A)

    def forward(self, x: Tensor) -> Tensor:
        if self.is_merged:
            return self.base(x)
        x = F.dropout(x, self.p, training=self.training)  # wrong
        low = F.linear(x, self.A)
        return self.base(x) + F.linear(low, self.B) * (self.alpha / self.r)

    def merge(self) -> None:
        if self.is_merged:
            return
        with torch.no_grad():
            self.base.weight.add_(self.delta())
        self.is_merged = True

    def unmerge(self) -> None:
        if not self.is_merged:
            return
        with torch.no_grad():
            self.base.weight.sub_(self.delta())
        self.is_merged = False
