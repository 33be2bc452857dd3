# family: core
# mistake: future-without-penalty
# Keys after the query are not penalised: the distance is clamped at 0 where it needs its absolute value.
import torch


def alibi_slopes(n_heads):
    p = 1 << (n_heads.bit_length() - 1)
    e = [-8 * (h + 1) / p for h in range(p)] + [-8 * (h + 1) / (2 * p) for h in range(0, 2 * p, 2)]
    return torch.tensor([2**x for x in e[:n_heads]], dtype=torch.float32)


def alibi_bias(n_heads, n, m=None, device=None):
    m = n if m is None else m
    j = torch.arange(m, dtype=torch.float32, device=device)
    d = (j[m - n :, None] - j).clamp(min=0)  # wrong
    return torch.einsum("h,ij->hij", -alibi_slopes(n_heads).to(d.device), d)
