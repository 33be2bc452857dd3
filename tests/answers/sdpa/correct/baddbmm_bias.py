import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """The additive mask goes into the product as its bias."""
    *lead, n, d_k = q.shape
    m = k.shape[-2]
    bias = torch.zeros(*lead, n, m, dtype=q.dtype, device=q.device)
    if mask is not None:
        bias = bias.masked_fill(~mask, torch.finfo(q.dtype).min)
    scores = torch.baddbmm(
        bias.reshape(-1, n, m),
        q.reshape(-1, n, d_k),
        k.reshape(-1, m, d_k).transpose(1, 2),
        alpha=1.0 / d_k**0.5,
    ).reshape(*lead, n, m)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights.matmul(v), weights
