# family: core
# mistake: none
import math

import torch


def alibi_slopes(n_heads):
    """For other numbers of heads: the next power of two, every second one first, then cut."""
    p = 2 ** math.ceil(math.log2(n_heads))
    slopes = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    if p != n_heads:
        slopes = (slopes[0::2] + slopes[1::2])[:n_heads]
    return torch.tensor(slopes)


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    i = torch.arange(m - n, m, device=device)[:, None]
    j = torch.arange(m, device=device)[None, :]
    return -alibi_slopes(n_heads).to(j.device)[:, None, None] * (i - j).abs()
