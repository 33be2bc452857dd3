# family: core
# mistake: scale-d-v
# The scale is the width of the values, not that of the keys.
import math

import torch
from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    d = v.shape[-1]  # wrong
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        mask = mask.expand(scores.shape)
        scores = scores.masked_fill(~mask, float("-inf"))
        scores = scores.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return torch.matmul(weights, v), weights
