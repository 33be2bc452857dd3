# family: core
# mistake: turned-in-place
# Missing clone, the result is written into the caller's x.
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    positions = offset + torch.arange(seq_len, device=device, dtype=torch.float32)
    exponents = 2 * torch.arange(d_head // 2, device=device, dtype=torch.float32) / d_head
    theta = positions[:, None] * torch.pow(base, -exponents)[None, :]
    return torch.cos(theta), torch.sin(theta)


def apply_rotary(x, cos, sin):
    c = cos.to(x.dtype)
    s = sin.to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    new_even = even * c - odd * s
    new_odd = even * s + odd * c
    y = x  # wrong
    y[..., 0::2] = new_even
    y[..., 1::2] = new_odd
    return y
