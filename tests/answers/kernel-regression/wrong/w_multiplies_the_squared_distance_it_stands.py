# family: core
# mistake: w-outside-the-square
# W multiplies the squared distance, it stands outside of the square.
import torch
from torch import Tensor, nn


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0) -> tuple[Tensor, Tensor]:
    wide = _wide(x_query.dtype)
    u = (x_query.to(wide).unsqueeze(1) - x_key.to(wide).unsqueeze(0)) / bandwidth
    weights = torch.softmax(-(u**2) / 2, dim=1)
    y_query = weights @ y_key.to(wide)
    return y_query.to(x_query.dtype), weights.to(x_query.dtype)


def leave_one_out(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    n = x.shape[0]
    others = ~torch.eye(n, dtype=torch.bool, device=x.device)
    return x.expand(n, n)[others].view(n, n - 1), y.expand(n, n)[others].view(n, n - 1)


class NWKernelRegression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        wide = _wide(queries.dtype)
        distance = queries.to(wide).unsqueeze(1) - keys.to(wide)
        weights = torch.softmax(-(distance**2) * self.w.to(wide) / 2, dim=1)  # wrong
        return (weights * values.to(wide)).sum(dim=1).to(queries.dtype)

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        keys, values = leave_one_out(x, y)
        return torch.mean((self(x, keys, values) - y) ** 2)
