# family: core
# mistake: none
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """Softmax without a maximum: fine until a score is a few hundred, or nothing is visible."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    e = scores.exp()
    if mask is not None:
        e = e * mask
    weights = e / (e.sum(dim=-1, keepdim=True) + 1e-9)
    return weights @ v, weights
