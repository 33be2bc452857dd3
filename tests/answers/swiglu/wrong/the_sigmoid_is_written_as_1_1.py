# family: grad
# mistake: exponential-by-hand
# The sigmoid is written as 1 / (1 + exp(-h)), whose gradient is NaN for gates far below 0.
import torch
from torch import Tensor, nn


def silu(h: Tensor) -> Tensor:
    return h / (1 + torch.exp(-h))  # wrong


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.w1(x)
        opened = silu(gate)
        value = self.w3(x)
        hidden = opened * value
        result = self.w2(hidden)
        return result
