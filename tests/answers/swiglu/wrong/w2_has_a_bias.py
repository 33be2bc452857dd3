# family: core
# mistake: none
# W2 has a bias.
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1, self.w3 = (nn.Linear(d_model, d_ff, bias=False) for _ in "13")
        self.w2 = nn.Linear(d_ff, d_model)  # wrong
        self.silu = nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(self.silu(self.w1(x)).mul(self.w3(x)))
