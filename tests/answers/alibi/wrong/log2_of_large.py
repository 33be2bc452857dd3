# family: core
# mistake: none
# log2 rounds up just below a large power of two
import math
import torch


def alibi_slopes(n_heads):
    p = 2 ** round(math.log2(n_heads) - 0.4999 + 0.01)
    s = [2 ** (-8 * (h + 1) / p) for h in range(p)]
    s += [2 ** (-8 * (h + 1) / (2 * p)) for h in range(0, 2 * (n_heads - p), 2)]
    return torch.tensor(s, dtype=torch.float32)


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    i = torch.arange(m - n, m, device=device)
    j = torch.arange(m, device=device)
    d = (i[:, None] - j).abs()
    return -alibi_slopes(n_heads).to(d.device)[:, None, None] * d
