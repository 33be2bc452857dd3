import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.matmul(q, k.transpose(-2, -1))
    s = s * (1 / k.size(-1) ** 0.5)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    highest = s.detach().amax(-1, keepdim=True)
    s = s - highest.masked_fill(highest == float("-inf"), 0.0)  # at large scores a logarithm of float32 has few digits
    norm = s.logsumexp(-1, keepdim=True)
    norm = norm.masked_fill(norm == float("-inf"), 0.0)
    weights = (s - norm).exp()
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
