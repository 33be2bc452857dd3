# family: core
# mistake: every-other-from-the-second
# Of twice the power of two it takes the 2nd, 4th, ... slope in the place of the 1st, 3rd, .
import math

import torch


def get_slopes(n):
    def get_slopes_power_of_2(n):
        return [2 ** (-8 * (i + 1) / n) for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return get_slopes_power_of_2(closest) + get_slopes_power_of_2(2 * closest)[1::2][: n - closest]  # wrong


def alibi_slopes(n_heads):
    return torch.tensor(get_slopes(n_heads), dtype=torch.float32)


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    slopes = torch.tensor(get_slopes(n_heads), dtype=torch.float32, device=device)
    q_pos = torch.arange(m - n, m, device=device)
    k_pos = torch.arange(m, device=device)
    distance = (q_pos[:, None] - k_pos[None, :]).abs().float()
    return -slopes[:, None, None] * distance
