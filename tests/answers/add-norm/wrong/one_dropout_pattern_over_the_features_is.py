# family: core
# mistake: none
# One dropout pattern over the features is drawn and used for all tokens, not one for each entry.
import torch
import torch.nn.functional as F
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        keep = torch.ones(y.shape[-1:], dtype=y.dtype, device=y.device)  # wrong
        keep = F.dropout(keep, self.p, training=self.training)
        return self.ln(x + y * keep)
