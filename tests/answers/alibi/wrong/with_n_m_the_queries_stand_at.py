# family: core
# mistake: top-left
# With n < m the queries stand at the first n positions in the place of the last n.
import torch
from torch import Tensor


def alibi_slopes(n_heads: int) -> Tensor:
    power = 1
    while power * 2 <= n_heads:
        power *= 2
    slopes = []
    for h in range(power):
        slopes.append(2.0 ** (-8.0 * (h + 1) / power))
    h = 0
    while len(slopes) < n_heads:
        slopes.append(2.0 ** (-8.0 * (h + 1) / (2 * power)))
        h += 2
    return torch.tensor(slopes, dtype=torch.float32)


def alibi_bias(n_heads: int, n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    if m is None:
        m = n
    bias = torch.zeros(n_heads, n, m, dtype=torch.float32, device=device)
    key_positions = torch.arange(m, dtype=torch.float32, device=device)
    query_positions = torch.arange(n, dtype=torch.float32, device=device)  # wrong
    distances = (query_positions.unsqueeze(1) - key_positions.unsqueeze(0)).abs()
    slopes = alibi_slopes(n_heads).to(bias.device)
    for h in range(n_heads):
        bias[h] = -slopes[h] * distances
    return bias
