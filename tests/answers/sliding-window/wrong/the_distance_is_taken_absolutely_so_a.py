# family: core
# mistake: none
# The distance is taken absolutely, so a query also sees keys behind it that stand in its block.
from collections.abc import Iterator

import torch
from torch import Tensor


def _blocks(n: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, size):
        yield start, min(n, start + size)


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Blocks of `window` queries, each against the at most 2 * window - 1 keys that any of them sees."""
    (n, d_k), m = q.shape[-2:], k.shape[-2]
    gap = m - n
    places = torch.arange(m, device=q.device)
    outputs: list[Tensor] = []
    for a, b in _blocks(n, min(window, m)):
        lo, hi = max(0, gap + a - window + 1), gap + b
        distance = places[gap + a : hi, None] - places[None, lo:hi]
        keep = distance.abs() < window  # wrong
        scores = q[..., a:b, :] @ k[..., lo:hi, :].mT / d_k**0.5
        weights = scores.masked_fill(~keep, -torch.inf).softmax(-1)
        outputs.append(weights @ v[..., lo:hi, :])
    return torch.cat(outputs, dim=-2)
