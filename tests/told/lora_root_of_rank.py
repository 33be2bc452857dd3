# kata: lora
# names: scale-root-of-r
import math

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"r has to be at least 1, got {r}")
        self.base_layer = base
        self.base_layer.requires_grad_(False)
        self.scaling = alpha / math.sqrt(r)  # wrong, named
        self.lora_dropout = nn.Dropout(dropout)
        self.A = nn.Parameter(base.weight.new_empty(r, base.in_features))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.merged = False

    def get_delta_weight(self) -> Tensor:
        return (self.B @ self.A) * self.scaling

    def forward(self, x: Tensor) -> Tensor:
        result = self.base_layer(x)
        if self.merged:
            return result
        return result + (self.lora_dropout(x) @ self.A.T @ self.B.T) * self.scaling

    @torch.no_grad()
    def merge(self) -> None:
        if not self.merged:
            self.base_layer.weight.add_(self.get_delta_weight())
            self.merged = True

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged:
            self.base_layer.weight.sub_(self.get_delta_weight())
            self.merged = False
