# family: core
# mistake: none
import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        if self.training and self.p > 0:
            y = y * torch.bernoulli(torch.full_like(y, self.p)) / self.p
        return self.ln(x + y)
