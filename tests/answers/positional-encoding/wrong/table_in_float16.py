# family: core
# mistake: none
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    position = torch.arange(max_len, dtype=torch.float16)[:, None]
    angle = position / torch.pow(base, torch.arange(0, d_model, 2) / d_model).to(torch.float16)
    table = torch.zeros(max_len, d_model)
    table[:, ::2] = angle.sin().float()
    table[:, 1::2] = angle.cos()[:, : d_model // 2].float()
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        if x.shape[1] > self.pe.shape[0]:
            raise ValueError("too long")
        return self.dropout(x + self.pe[: x.shape[1]].to(x.dtype))
