import torch


def alibi_slopes(n_heads):
    n = 1
    while n < n_heads:
        n *= 2
    base = torch.logspace(-8 / n, -8, n, base=2.0)
    return base if n == n_heads else torch.cat((base[1::2], base[0::2]))[:n_heads]


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    i, j = torch.meshgrid(torch.arange(n, device=device), torch.arange(m, device=device), indexing="ij")
    distance = (i + (m - n)).sub_(j).abs_()
    bias = torch.zeros(n_heads, n, m, device=device)
    for h, slope in enumerate(alibi_slopes(n_heads).tolist()):
        bias[h] -= slope * distance
    return bias
