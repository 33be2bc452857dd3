# family: core
# mistake: top-left
import math

import torch


def alibi_slopes(n_heads):
    p = 2 ** math.floor(math.log2(n_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    rest = [2 ** (-8 * (i + 1) / (2 * p)) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + rest)[:n_heads])


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    distance = (torch.arange(n, device=device)[:, None] - torch.arange(m, device=device)[None, :]).abs()
    return -alibi_slopes(n_heads).to(distance.device)[:, None, None] * distance
