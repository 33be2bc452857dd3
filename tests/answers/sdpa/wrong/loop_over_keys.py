# family: cost
# mistake: loop-over-queries
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """One score column after the other."""
    columns = []
    for j in range(k.size(-2)):
        columns.append((q * k[..., j : j + 1, :]).sum(-1))
    scores = torch.stack(columns, dim=-1) / k.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return weights @ v, weights
