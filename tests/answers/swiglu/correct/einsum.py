import torch
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1, self.w3 = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.einsum("...i,fi->...f", x, self.w1.weight)
        v = torch.einsum("...i,fi->...f", x, self.w3.weight)
        return torch.einsum("...f,...f,...f,of->...o", h, torch.sigmoid(h), v, self.w2.weight)
