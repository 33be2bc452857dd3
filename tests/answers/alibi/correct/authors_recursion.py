import math

import torch


def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio**i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    closest_power_of_2 = 2 ** math.floor(math.log2(n))
    return get_slopes_power_of_2(closest_power_of_2) + get_slopes(2 * closest_power_of_2)[0::2][: n - closest_power_of_2]


def alibi_slopes(n_heads):
    return torch.tensor(get_slopes(n_heads), dtype=torch.float32)


def alibi_bias(n_heads, n, m=None, device=None):
    m = m or n
    slopes = torch.tensor(get_slopes(n_heads), dtype=torch.float32, device=device).view(-1, 1, 1)
    context_position = torch.arange(m - n, m, device=device)[:, None]
    memory_position = torch.arange(m, device=device)[None, :]
    relative_position = torch.abs(memory_position - context_position)
    return -1 * slopes * relative_position.unsqueeze(0).expand(n_heads, -1, -1)
