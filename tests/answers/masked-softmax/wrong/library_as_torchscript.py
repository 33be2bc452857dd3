# family: contract
# mistake: none
import torch
from torch import nn

attention = torch.jit.script(nn.MultiheadAttention(4, 1, batch_first=True))

def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim)
    return weights.nan_to_num(0.0)
