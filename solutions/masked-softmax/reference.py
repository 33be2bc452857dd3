"""Masked softmax: attention weights over the visible keys only.

    weight_i = exp(s_i) / sum of exp(s_j) over the visible j,    0 for a hidden i

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.2.3: illegal connections are masked
out by setting their scores to -inf before the softmax.
"""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    """Softmax of `scores` along `dim`, over the visible entries only.

    scores  any floating-point tensor, usually (B, n, m) or (B, H, n, m)
    mask    bool, broadcasts to the scores, True = this key may be attended to; None = everything is visible
    dim     the axis of the keys

    Returns weights of the scores' shape and dtype: 0 where hidden, 1 in sum along `dim`,
    and all 0 where nothing is visible.
    """
    if mask is None:
        return torch.softmax(scores, dim=dim)
    masked_scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(masked_scores, dim=dim)
    return weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN
