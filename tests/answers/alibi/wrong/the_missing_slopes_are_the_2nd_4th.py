# family: core
# mistake: every-other-from-the-second
# The missing slopes are the 2nd, 4th, ... of twice the power, not the 1st, 3rd, .
import torch
from torch import Tensor


def _geometric(count: int) -> list[float]:
    return [2.0 ** (-8.0 * (h + 1) / count) for h in range(count)]


def alibi_slopes(n_heads: int) -> Tensor:
    power = 1
    while power * 2 <= n_heads:
        power *= 2
    missing = n_heads - power
    extra = _geometric(2 * power)[1::2][:missing]  # wrong
    return torch.tensor(_geometric(power) + extra, dtype=torch.float32)


def alibi_bias(n_heads: int, n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    m = n if m is None else m
    keys = torch.arange(m, device=device, dtype=torch.float32)
    queries = torch.arange(m - n, m, device=device, dtype=torch.float32)
    distance = (queries[:, None] - keys[None, :]).abs()
    slopes = alibi_slopes(n_heads).to(distance.device)
    return -slopes[:, None, None] * distance
