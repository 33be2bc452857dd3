# family: core
# mistake: mask-after-softmax
# What masked_fill returns is thrown away, so the hidden keys take part in the softmax.
import torch
from torch import Tensor


def _softmax_over_visible(scores: Tensor, visible: Tensor) -> Tensor:
    hidden = ~visible
    scores.masked_fill(hidden, float("-inf"))  # wrong
    blind_query = hidden.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(blind_query, 0.0)
    weights = scores.softmax(dim=-1)
    return weights.masked_fill(hidden, 0.0)


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    key_width = k.shape[-1]
    scores = torch.einsum("...nd,...md->...nm", q, k) / key_width**0.5
    visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else torch.broadcast_to(mask, scores.shape)
    weights = _softmax_over_visible(scores, visible)
    output = torch.einsum("...nm,...mv->...nv", weights, v)
    return output, weights
