import math

import torch


def alibi_slopes(n_heads: int) -> torch.Tensor:
    rounded = 2 ** math.ceil(math.log2(n_heads))
    m = torch.arange(1, rounded + 1, dtype=torch.float32) * (8 / rounded)
    slopes = 1.0 / torch.pow(2, m)
    if rounded != n_heads:
        slopes = torch.concat([slopes[1::2], slopes[::2]])[:n_heads]
    return slopes


def alibi_bias(n_heads, n, m=None, device=None):
    if m is None:
        m = n
    rows = torch.arange(1 - m, 1, dtype=torch.float32, device=device)
    distances = (rows[None, :] - rows[m - n :, None]).abs().mul(-1.0)
    return torch.einsum("h,nm->hnm", alibi_slopes(n_heads).to(distances.device), distances)
