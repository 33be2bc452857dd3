# family: grad
# mistake: w-read-as-a-number
# W is handed on as a Python number (.item()), so no gradient reaches it.
import torch
from torch import Tensor, nn


def gaussian_attention(queries: Tensor, keys: Tensor, values: Tensor, sharpness: float) -> tuple[Tensor, Tensor]:
    dtype = queries.dtype
    working_dtype = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    wide_queries = queries.to(working_dtype)
    wide_keys = keys.to(working_dtype)
    wide_values = values.to(working_dtype)
    one_row_for_each_query = wide_queries.unsqueeze(-1)
    distances = one_row_for_each_query - wide_keys
    scaled_distances = distances * sharpness
    exponents = -0.5 * scaled_distances.square()
    weights = exponents.softmax(dim=-1)
    weighted_values = weights * wide_values
    average = weighted_values.sum(dim=-1)
    return average.to(dtype), weights.to(dtype)


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0) -> tuple[Tensor, Tensor]:
    return gaussian_attention(x_query, x_key, y_key, 1.0 / bandwidth)


def leave_one_out(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    n = x.shape[0]
    column = torch.arange(n - 1, device=x.device)
    row = torch.arange(n, device=x.device).unsqueeze(1)
    index = column + (column >= row)
    return x[index], y[index]


class NWKernelRegression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        prediction, _ = gaussian_attention(queries, keys, values, self.w.item())  # wrong
        return prediction

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        keys, values = leave_one_out(x, y)
        prediction = self.forward(x, keys, values)
        errors = prediction - y
        return errors.square().mean()
