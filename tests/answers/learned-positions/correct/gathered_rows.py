import torch
from torch import Tensor, nn


class LearnedPositionalEncoding(nn.Module):
    """One row for each token of each sequence, looked up by its index."""

    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        table = torch.randn(max_len, d_model) * d_model**-0.5
        self.register_parameter("pe", nn.Parameter(table))
        self.rate = dropout

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.size()
        if not length <= len(self.pe):
            raise ValueError("too long")
        where = torch.arange(length, device=x.device).expand(batch, -1)
        summed = x + self.pe[where].type_as(x)
        return nn.functional.dropout(summed, self.rate, self.training)
