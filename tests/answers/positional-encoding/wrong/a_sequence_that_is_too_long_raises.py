# family: contract
# mistake: too-long-not-refused
# A sequence that is too long raises ValueError in training only.
from torch import Tensor, arange, cat, float32, float64, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    """One column after the other."""
    p = arange(max_len, dtype=float64)
    columns = []
    for c in range(d_model):
        angle = p * base ** (-(c - c % 2) / d_model)
        columns.append(angle.cos() if c % 2 else angle.sin())
    return cat([column.unsqueeze(1) for column in columns], dim=1).to(float32)


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        length, limit = x.shape[-2], self.pe.shape[-2]
        if self.training and length > limit:  # wrong
            raise ValueError(f"at most {limit} tokens, got {length}")
        return self.drop(x + self.pe[:length].to(dtype=x.dtype))
