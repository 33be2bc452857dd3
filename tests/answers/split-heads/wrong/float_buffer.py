# family: dtype
# mistake: none
import torch


def split_heads(x, n_heads):
    b, s, d = x.shape
    if d % n_heads != 0:
        raise ValueError("bad heads")
    out = torch.zeros(b, n_heads, s, d // n_heads, device=x.device)
    for h, part in enumerate(x.chunk(n_heads, dim=-1)):
        out[:, h] = part
    return out


def concat_heads(x):
    return x.transpose(1, 2).flatten(2)
