# family: core
# mistake: only-tokens-dropped
# Dropout acts on the tokens before the sum, not on the sum.
import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    p = torch.arange(max_len, dtype=torch.float32)[:, None]
    w = base ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    angle = p * w
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[:, :d_model]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        S = x.shape[1]
        if S > len(self.pe):
            raise ValueError(f"{S} tokens, but only {len(self.pe)} positions")
        return self.drop(x) + self.pe[:S].to(x.dtype)  # wrong
