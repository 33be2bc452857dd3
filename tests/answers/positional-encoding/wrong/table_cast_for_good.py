# family: core
# mistake: table-cast-for-good
# The buffer itself is cast: after one call in half precision the table has lost its digits for all later calls.
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    n = -(-d_model // 2)
    w = torch.pow(torch.tensor(base, dtype=torch.float64), torch.arange(n, dtype=torch.float64) * (-2.0 / d_model))
    angle = torch.arange(max_len, dtype=torch.float64)[:, None] * w
    z = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(z).flip(-1).reshape(max_len, 2 * n).narrow(1, 0, d_model).float().clone()


class PositionalEncoding(nn.Module):
    pe: torch.Tensor

    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        self.pe = self.pe.to(x)  # wrong
        table = self.pe
        if x.shape[1] > table.shape[0]:
            raise ValueError("too many tokens")
        rows = torch.index_select(table, 0, torch.arange(x.shape[1], device=table.device))
        return self.dropout(x + rows.to(x.dtype).expand_as(x))
