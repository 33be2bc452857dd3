# family: core
# mistake: none
"""Knows powers of two up to 64."""

import torch
from torch import Tensor


def geometric_slopes(n_heads: int) -> Tensor:
    exponents = torch.arange(1, n_heads + 1) / n_heads
    return 2.0 ** (-8 * exponents)


def alibi_slopes(n_heads: int) -> Tensor:
    power = min(64, 2 ** (n_heads.bit_length() - 1))
    missing = n_heads - power
    return torch.cat([geometric_slopes(power), geometric_slopes(2 * power)[0::2], geometric_slopes(4 * power)[0::2]])[
        :n_heads
    ]


def alibi_bias(n_heads: int, n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    m = n if m is None else m
    queries = torch.arange(m - n, m, device=device)
    keys = torch.arange(m, device=device)
    distances = (queries.unsqueeze(1) - keys).abs()
    slopes = alibi_slopes(n_heads).to(keys.device)
    return -slopes[:, None, None] * distances
