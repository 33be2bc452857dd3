"""ALiBi: attention with linear biases. A score loses a little for each token between query and key.

    bias[h, i, j] = -slope_h |i - j|        slope_h = 2^(-8 (h + 1) / n_heads), where n_heads is a power of two

Press, Smith, Lewis 2021, "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation"
(arXiv:2108.12409), section 3; other numbers of heads as in the authors' code.
"""

import torch
from torch import Tensor


def geometric_slopes(n_heads: int) -> Tensor:
    """Return the slopes for a power of two: 2^(-8 / n_heads), its square, its cube, down to 2^-8."""
    exponents = torch.arange(1, n_heads + 1) / n_heads  # (H,)
    return 2.0 ** (-8 * exponents)


def alibi_slopes(n_heads: int) -> Tensor:
    """One slope for each head, (H,), float32.

    Where n_heads is no power of two: the slopes of the largest power of two below it, then every other slope, from the
    first on, of twice that power, as many as are missing.
    """
    power = 2 ** (n_heads.bit_length() - 1)
    missing = n_heads - power
    return torch.cat([geometric_slopes(power), geometric_slopes(2 * power)[0::2][:missing]])  # (H,)


def alibi_bias(n_heads: int, n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """What is added to the scores of n queries and m keys, (H, n, m), float32, on `device`.

    The queries are the last n of m positions; m = None means n.
    """
    m = n if m is None else m
    queries = torch.arange(m - n, m, device=device)  # (n,)
    keys = torch.arange(m, device=device)  # (m,)
    distances = (queries.unsqueeze(1) - keys).abs()  # (n, m)
    slopes = alibi_slopes(n_heads).to(keys.device)  # (H,)
    return -slopes[:, None, None] * distances  # (H, n, m)
