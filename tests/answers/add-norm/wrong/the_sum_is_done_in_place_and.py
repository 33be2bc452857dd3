# family: core
# mistake: none
# The sum is done in place, and in evaluation that is in y itself, since dropout hands y back as it is.
import torch
from torch import nn


class AddNorm(nn.Module):
    """Residual connection followed by layer normalisation (as in the paper)."""

    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(p=dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        # step 1: dropout on what the sublayer returned
        out = self.drop(y)
        if x is y or out.requires_grad or x.requires_grad:
            # autograd needs the parts
            total = out + x
        else:
            # step 2: the residual
            total = out.add_(x)  # wrong
        # step 3: norm
        return self.ln(total)
