# family: core
# mistake: none
# The output is computed before the weights of empty queries are set to 0, so it is the mean of all values.
from typing import Optional, Tuple

import torch
from torch import Tensor


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor]:
    scores = (q / q.shape[-1] ** 0.5) @ k.mT
    if mask is not None:
        # large and negative, but finite: no NaN in a row without keys
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    output = weights @ v  # wrong
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return output, weights
