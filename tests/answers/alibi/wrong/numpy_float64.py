# family: core
# mistake: slopes-as-float64
import math

import numpy as np
import torch


def alibi_slopes(n_heads):
    p = 2 ** math.floor(math.log2(n_heads))
    first = 2.0 ** (-8 * np.arange(1, p + 1) / p)
    rest = 2.0 ** (-8 * np.arange(1, 2 * p, 2) / (2 * p))
    return torch.from_numpy(np.concatenate([first, rest])[:n_heads].copy())


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    i = torch.arange(m - n, m, device=device)[:, None]
    j = torch.arange(m, device=device)[None, :]
    return -alibi_slopes(n_heads).to(j.device)[:, None, None] * (i - j).abs()
