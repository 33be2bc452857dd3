# family: core
# mistake: length-off-by-one
# A sequence of exactly max_len tokens is refused.
import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    p = torch.arange(max_len, dtype=torch.double)
    feature = torch.arange(d_model)
    w = base ** (-(feature - feature % 2).double() / d_model)
    angle = torch.outer(p, w)
    return torch.where(feature % 2 == 0, angle.sin(), angle.cos()).float()


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.max_len = max_len
        self.drop = nn.Dropout(p=dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        S = x.size(-2)
        if S >= self.max_len:  # wrong
            raise ValueError(f"no more than {self.max_len} positions")
        return self.drop(x + self.pe[:S].to(x.dtype))
