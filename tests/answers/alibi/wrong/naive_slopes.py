# family: core
# mistake: one-formula-for-all
import torch


def alibi_slopes(n_heads):
    return torch.tensor([2 ** (-8 * (i + 1) / n_heads) for i in range(n_heads)])


def alibi_bias(n_heads, n, m=None, device=None):
    m = m if m is not None else n
    i = torch.arange(m - n, m, device=device).unsqueeze(1)
    j = torch.arange(m, device=device).unsqueeze(0)
    return -alibi_slopes(n_heads).to(j.device).view(-1, 1, 1) * (i - j).abs()
