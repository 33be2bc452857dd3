# family: core
# mistake: none
import math

import torch


def alibi_slopes(n_heads):
    p = 2 ** math.floor(math.log2(n_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    rest = [2 ** (-8 * (i + 1) / (2 * p)) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + rest)[:n_heads])


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    keys = torch.arange(m, device=device) - (m - 1)
    return (alibi_slopes(n_heads).to(keys.device)[:, None, None] * keys).expand(n_heads, n, m)
