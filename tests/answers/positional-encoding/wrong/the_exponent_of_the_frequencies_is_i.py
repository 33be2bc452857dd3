# family: core
# mistake: exponent-not-doubled
# The exponent of the frequencies is i / d_model, the factor 2 is forgotten.
import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    position = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
    pair = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    frequency = base ** (-pair / d_model)  # wrong
    angle = position * frequency
    table = torch.zeros(max_len, d_model, dtype=torch.float64)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle[:, : d_model // 2])
    return table.to(torch.float32)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        if length > self.pe.shape[0]:
            raise ValueError(f"{length} tokens, but only {self.pe.shape[0]} positions")
        return self.dropout((x + self.pe[:length]).to(x.dtype))
