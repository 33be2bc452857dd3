# family: core
# mistake: nearest-power
# The power of two is the nearest one, not the largest below, so 6 heads get the first 6 of 8 slopes.
import math

import torch


def alibi_slopes(n_heads):
    p = 2 ** round(math.log2(n_heads))  # wrong
    h = torch.arange(n_heads, dtype=torch.float64)
    low = 8 * (h + 1) / p
    high = 8 * (2 * (h - p) + 1) / (2 * p)
    return (2.0 ** -torch.where(h < p, low, high)).float()


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    at = torch.arange(m, device=device)
    gap = torch.abs(at[m - n :].unsqueeze(-1) - at).float()
    return torch.einsum("h,nm->hnm", alibi_slopes(n_heads).to(gap.device), gap).neg()
