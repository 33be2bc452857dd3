# family: core
# mistake: none
"""Lets distances stop at 64 where several queries are asked for."""

import torch
from torch import Tensor


def geometric_slopes(n_heads: int) -> Tensor:
    exponents = torch.arange(1, n_heads + 1) / n_heads
    return 2.0 ** (-8 * exponents)


def alibi_slopes(n_heads: int) -> Tensor:
    power = 2 ** (n_heads.bit_length() - 1)
    missing = n_heads - power
    return torch.cat([geometric_slopes(power), geometric_slopes(2 * power)[0::2][:missing]])


def alibi_bias(n_heads: int, n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    m = n if m is None else m
    queries = torch.arange(m - n, m, device=device)
    keys = torch.arange(m, device=device)
    distances = (queries.unsqueeze(1) - keys).abs().clamp(max=64 if n > 2 else None, min=0)
    slopes = alibi_slopes(n_heads).to(keys.device)
    return -slopes[:, None, None] * distances
