from functools import lru_cache

import torch
import torch.nn.functional as F


@lru_cache
def exponents(n_heads):
    p = 1 << (n_heads.bit_length() - 1)
    first = [8 * (h + 1) / p for h in range(p)]
    return tuple(first + [4 * (2 * h + 1) / p for h in range(n_heads - p)])


def alibi_slopes(n_heads):
    return torch.exp2(-torch.tensor(exponents(n_heads)))


def alibi_bias(n_heads, n, m=None, device=None):
    """Each row is the same wedge, shifted."""
    m = n if m is None else m
    wedge = torch.cat([torch.arange(-(m - 1), 1, device=device), torch.arange(-1, -m, -1, device=device)]).float()
    rows = wedge.unfold(0, m, 1).flip(0)[m - n :]
    slopes = torch.as_tensor(exponents(n_heads), device=device).neg().exp2()
    return rows.expand(n_heads, n, m) * slopes.reshape(n_heads, 1, 1)
