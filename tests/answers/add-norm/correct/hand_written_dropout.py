import torch
from torch import Tensor, nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape: int, dropout: float = 0.0):
        super().__init__()
        self.rate = dropout
        self.ln = nn.LayerNorm(normalized_shape, eps=1e-05, elementwise_affine=True)

    def _drop(self, y: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return y
        if self.rate >= 1:
            return y * 0
        keep = torch.rand_like(y, dtype=torch.float32) >= self.rate
        return torch.where(keep, y / (1 - self.rate), 0)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.ln(self._drop(y) + x)
