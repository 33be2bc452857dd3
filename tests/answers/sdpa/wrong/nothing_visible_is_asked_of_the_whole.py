# family: core
# mistake: none
# "nothing visible" is asked of the whole mask, not of each query, so single empty rows become NaN.
import math

import torch
from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        visible = mask.any()  # wrong
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(~visible, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(~visible, 0.0)
    return torch.matmul(weights, v), weights
