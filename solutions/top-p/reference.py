"""Top-p filtering: only the nucleus of the distribution may be drawn.

    V_p = the smallest set of most probable tokens with    sum over V_p of p(x) >= p

Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration" (arXiv:1904.09751), section 3.1.
"""

import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    """Rule out the tokens that do not belong to the nucleus.

    logits  (..., vocab), any floating-point dtype; may hold -inf
    p       between 0 and 1

    Returns logits of the same shape and dtype: those of the nucleus as they are, all others -inf.
    """
    if p >= 1:
        return logits
    probs = torch.softmax(logits, dim=-1)
    descending, ids = probs.sort(dim=-1, descending=True, stable=True)
    before = descending.cumsum(dim=-1) - descending  # how much the tokens ahead add up to
    outside = before >= p
    outside[..., 0] = False  # one token always survives
    removed = torch.empty_like(outside).scatter(-1, ids, outside)  # back into the order of the ids
    return logits.masked_fill(removed, float("-inf"))
