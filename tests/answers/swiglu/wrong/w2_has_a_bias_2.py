# family: core
# mistake: none
# W2 has a bias.
"""Gated feed-forward network."""

from functools import partial

from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        up = partial(nn.Linear, d_model, d_ff, bias=False)
        self.w1, self.w3 = up(), up()
        self.w2 = nn.Linear(d_ff, d_model)  # wrong
        self.act = nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.act(self.w1(x)).mul(self.w3(x))
        return self.w2(hidden)
