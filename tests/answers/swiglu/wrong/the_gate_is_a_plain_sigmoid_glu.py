# family: core
# mistake: sigmoid-gate
# The gate is a plain sigmoid (GLU), without its factor h.
import torch
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.w1(x))  # wrong
        return self.w2(gate * self.w3(x))
