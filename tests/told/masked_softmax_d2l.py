# kata: masked-softmax
# names:
import torch
from torch import nn

def masked_softmax(X, mask=None, dim=-1):
    """Perform softmax operation by masking elements on the last axis."""
    if mask is None:
        return nn.functional.softmax(X, dim=-1)  # wrong
    else:
        X[~mask] = -1e6  # wrong
        return nn.functional.softmax(X, dim=-1)
