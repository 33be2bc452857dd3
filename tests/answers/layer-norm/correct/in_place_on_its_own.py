import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    acc = torch.float64 if x.dtype == torch.float64 else torch.float32
    y = x.to(acc, copy=True)
    y -= torch.mean(y, -1, keepdim=True)
    scale = torch.linalg.vector_norm(y, dim=-1, keepdim=True).square() / y.shape[-1]
    y = y * scale.add_(eps).rsqrt_()
    y *= weight.to(acc)
    y += bias.to(acc)
    return y.to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(normalized_shape)), nn.Parameter(torch.zeros(normalized_shape))

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight, self.bias, self.eps)
