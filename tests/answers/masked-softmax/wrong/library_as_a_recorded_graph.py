# family: contract
# mistake: none
import torch
from torch import nn

example = torch.zeros(1, 2, 4)
attention = torch.jit.trace(nn.MultiheadAttention(4, 1, batch_first=True), (example, example, example))

def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim)
    return weights.nan_to_num(0.0)
