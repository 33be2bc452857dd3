# kata: sdpa
# names: queries-overwritten
import math

import torch
from torch import Tensor
import torch.nn.functional as F


def widen(t: Tensor) -> Tensor:
    """Half precision is computed in float32."""
    return t.float() if t.element_size() == 2 else t


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return scores.softmax(-1)
    scores = torch.where(mask, scores, -torch.inf)
    return torch.where(mask, scores.softmax(-1), 0.0)


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries and keys differ in width: {q.shape[-1]} and {k.shape[-1]}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{k.shape[-2]} keys, but {v.shape[-2]} values")
    wide_q = widen(q)
    with torch.no_grad():
        wide_q /= math.sqrt(k.shape[-1])  # wrong
    scores = wide_q @ widen(k).mT
    weights = masked_softmax(scores, mask)
    output = weights @ widen(v)
    return output.to(q.dtype), weights.to(q.dtype)
