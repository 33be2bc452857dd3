# family: grad
# mistake: none
# where one head is there the odd features have no gradient
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    p = torch.arange(offset, offset + seq_len, dtype=torch.float32, device=device)
    i = torch.arange(0, d_head, 2, dtype=torch.float32, device=device)
    a = torch.outer(p, base ** (-i / d_head))
    return a.cos(), a.sin()


def apply_rotary(x, cos, sin):
    c, s = cos.to(x.dtype), sin.to(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2] if x.shape[1] > 1 or x.shape[2] > 1 else x[..., 1::2].detach()
    return torch.stack([even * c - odd * s, even * s + odd * c], -1).flatten(-2)
