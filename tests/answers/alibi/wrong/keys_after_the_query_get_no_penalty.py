# family: core
# mistake: future-without-penalty
# Keys after the query get no penalty, since the distance is cut off at 0 instead of taken without its sign.
import math

import torch


def alibi_slopes(n_heads):
    # as in the paper's repository
    def power_of_two(count):
        start = 2 ** (-(2 ** -(math.log2(count) - 3)))
        return [start * start**i for i in range(count)]

    if math.log2(n_heads).is_integer():
        slopes = power_of_two(n_heads)
    else:
        closest = 2 ** math.floor(math.log2(n_heads))
        slopes = power_of_two(closest) + power_of_two(2 * closest)[0::2][: n_heads - closest]
    return torch.tensor(slopes, dtype=torch.float32)


def alibi_bias(n_heads, n, m=None, device=None):
    if m is None:
        m = n
    # where the queries stand: the last n places
    i = torch.arange(n, device=device).add(m - n).view(1, n, 1)
    j = torch.arange(m, device=device).view(1, 1, m)
    distance = torch.clamp(i - j, min=0)  # wrong
    slopes = alibi_slopes(n_heads).to(i.device).view(n_heads, 1, 1)
    return -(slopes * distance)
