"""sigmoid(h) = (1 + tanh(h / 2)) / 2."""
import torch
from torch import nn


def silu(h):
    return 0.5 * h * (1 + torch.tanh(0.5 * h))


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x):
        hidden = silu(self.w1(x)).mul(self.w3(x))
        return self.w2(hidden)
