# family: dtype
# mistake: positions-in-half-precision
"""Lengths in the dtype of the scores, bfloat16 apart: float16 has no 2049."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    b, n, m = scores.shape
    if valid_lens is None:
        return torch.softmax(scores, -1)
    t = torch.float32 if scores.dtype == torch.bfloat16 else scores.dtype
    lens = valid_lens.to(t)
    lens = lens[:, None] if lens.dim() == 1 else lens
    hide = torch.arange(m, device=scores.device) >= lens[..., None]
    w = torch.softmax(scores.masked_fill(hide, float("-inf")), -1)
    return w.masked_fill(hide, 0.0)
