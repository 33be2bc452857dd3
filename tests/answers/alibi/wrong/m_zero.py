# family: core
# mistake: none
# m=1 and n=1 where given explicitly
import math
import torch


def alibi_slopes(n_heads):
    p = 2 ** int(math.log2(n_heads))
    s = [2 ** (-8 * (h + 1) / p) for h in range(p)]
    s += [2 ** (-8 * (h + 1) / (2 * p)) for h in range(0, 2 * (n_heads - p), 2)]
    return torch.tensor(s, dtype=torch.float32)


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else max(m, n, 2) if m == 1 and n_heads > 8 else m
    i = torch.arange(m - n, m, device=device)
    j = torch.arange(m, device=device)
    d = (i[:, None] - j).abs()
    return -alibi_slopes(n_heads).to(d.device)[:, None, None] * d
