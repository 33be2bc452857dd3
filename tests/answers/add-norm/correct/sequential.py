import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.ln = nn.LayerNorm([normalized_shape])
        self.branch = nn.Sequential(nn.Identity(), nn.Dropout(dropout))

    def forward(self, x, y):
        both = torch.stack((x, self.branch(y)))
        return self.ln(both.sum(dim=0))
