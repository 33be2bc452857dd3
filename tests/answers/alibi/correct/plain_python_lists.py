import torch


def slopes_of(n_heads):
    power = 1
    while power * 2 <= n_heads:
        power *= 2
    slopes = [2.0 ** (-8.0 * (h + 1) / power) for h in range(power)]
    h = 0
    while len(slopes) < n_heads:
        slopes.append(2.0 ** (-8.0 * (2 * h + 1) / (2 * power)))
        h += 1
    return slopes


def alibi_slopes(n_heads):
    return torch.tensor(slopes_of(n_heads))


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    table = [[[-s * abs(m - n + i - j) for j in range(m)] for i in range(n)] for s in slopes_of(n_heads)]
    return torch.tensor(table, dtype=torch.float32, device=device)
