"""Masked softmax by lengths: each sequence, or each query, sees the first so many keys.

    weight_j = exp(s_j) / sum of exp(s_k) over k < length,    0 for j >= length

Sutskever et al. 2014 (arXiv:1409.3215) batch sequences of different lengths by padding them; what stands behind the
length of a sequence must not be attended to (Bahdanau et al. 2015, arXiv:1409.0473, equation 6, sums over its own
T_x positions only).
"""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    """Softmax of `scores` over the keys, of which only the first `valid_lens` are visible.

    scores      (B, n, m), floating point
    valid_lens  (B,), one length for each sequence, or (B, n), one for each query; int64, 0 to m;
                None = everything is visible

    Returns weights (B, n, m) in the scores' dtype: 0 behind the length, 1 in sum before it,
    and all 0 where the length is 0.
    """
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]  # (B, 1)
    positions = torch.arange(scores.size(-1), device=scores.device)  # (m,)
    keep = positions < valid_lens[:, :, None]  # (B, n, m)
    masked_scores = scores.masked_fill(~keep, float("-inf"))
    weights = torch.softmax(masked_scores, dim=-1)
    return weights.masked_fill(~keep, 0.0)  # softmax over nothing but -inf is NaN
