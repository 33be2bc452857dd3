# family: mask
# mistake: none
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """A bool mask is added as if it were a bias: visible keys gain 1, hidden ones nothing."""
    scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(-1)
    return weights @ v, weights
