# family: contract
# mistake: none
# Too long a sequence is refused in training only; in evaluation it is cut to the table's length.
import torch
from torch import Tensor, nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.max_len = max_len
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        if self.training and length > self.max_len:  # wrong
            raise ValueError(f"{length} tokens, but {self.max_len} positions")
        x = x[:, : self.max_len]
        return self.dropout(x + self.pe[:length].to(x.dtype))
