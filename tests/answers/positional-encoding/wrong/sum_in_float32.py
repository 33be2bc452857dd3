# family: dtype
# mistake: half-precision-promoted
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    angle = torch.arange(max_len).float()[:, None] / base ** (torch.arange(0, d_model, 2).float() / d_model)
    table = torch.zeros(max_len, d_model)
    table[:, ::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, : d_model // 2]
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        if x.shape[1] > self.pe.shape[0]:
            raise ValueError("too long")
        return self.dropout(x.float() + self.pe[: x.shape[1]].float())
