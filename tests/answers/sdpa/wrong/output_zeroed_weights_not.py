# family: mask
# mistake: output-cleaned-only
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, -1)
    output = torch.nan_to_num(weights @ v)
    return output, weights
