# family: core
# mistake: bandwidth-not-squared
# Nadaraya_watson divides the squared distance by bandwidth, not by its square.
import torch
from torch import Tensor, nn


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _average(exponents: Tensor, values: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    weights = torch.softmax(exponents, dim=-1)
    return (weights * _wide(values)).sum(dim=-1).to(dtype), weights.to(dtype)


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0) -> tuple[Tensor, Tensor]:
    distances = _wide(x_query).unsqueeze(1) - _wide(x_key).unsqueeze(0)
    exponents = -(distances**2) / (2 * bandwidth)  # wrong
    return _average(exponents, y_key, x_query.dtype)


def leave_one_out(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    n = x.shape[0]
    others = ~torch.eye(n, dtype=torch.bool, device=x.device)
    return x.expand(n, n)[others].reshape(n, n - 1), y.expand(n, n)[others].reshape(n, n - 1)


class NWKernelRegression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor(1.0))

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        distances = (_wide(queries).unsqueeze(1) - _wide(keys)) * _wide(self.w)
        return _average(-(distances**2) / 2, values, queries.dtype)[0]

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        keys, values = leave_one_out(x, y)
        return ((self(x, keys, values) - y) ** 2).mean()
