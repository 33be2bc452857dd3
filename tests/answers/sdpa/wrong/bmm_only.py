# family: core
# mistake: none
import math

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    """Written for one head: three axes and no other number."""
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(F.softmax(scores, dim=-1))
    return torch.bmm(weights, v), weights
