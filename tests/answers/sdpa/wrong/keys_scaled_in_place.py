# family: contract
# mistake: none
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """Scales the keys where they are, to save a copy of the scores."""
    k.data.div_(k.size(-1) ** 0.5)
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return weights @ v, weights
