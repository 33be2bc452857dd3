# kata: sdpa
# names: dead-rows-uniform
"""Scaled dot-product attention."""

import torch
from torch import Tensor, nn


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention of n queries over m keys, with any number of leading dimensions."""
    scaling = k.shape[-1] ** -0.5
    attn_weights = torch.matmul(q * scaling, k.transpose(-1, -2))
    if mask is not None:
        min_value = torch.finfo(attn_weights.dtype).min
        attn_weights = attn_weights.masked_fill(~mask, min_value)
    attn_probs = nn.functional.softmax(attn_weights, dim=-1)  # wrong
    attn_output = torch.matmul(attn_probs, v)
    return attn_output, attn_probs
