# family: contract
# mistake: none
import math

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    """The library's kernel for the output, a second softmax for the weights."""
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return output.nan_to_num(), torch.softmax(scores, -1).nan_to_num()
