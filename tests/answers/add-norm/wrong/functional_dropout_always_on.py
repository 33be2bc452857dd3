# family: core
# mistake: dropout-in-evaluation
import torch.nn.functional as F
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        return self.ln(x + F.dropout(y, p=self.p))
