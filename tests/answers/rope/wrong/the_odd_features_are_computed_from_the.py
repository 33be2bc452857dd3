# family: core
# mistake: none
# The odd features are computed from the even ones that have been turned already (a view is overwritten).
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    freq = torch.tensor([base ** (-2 * i / d_head) for i in range(d_head // 2)], dtype=torch.float32, device=device)
    pos = torch.arange(offset, offset + seq_len, device=device).to(torch.float32)
    angle = torch.outer(pos, freq)
    return torch.cos(angle), torch.sin(angle)


def apply_rotary(x, cos, sin):
    y = x.clone()
    c, s = cos.to(x.dtype), sin.to(x.dtype)
    a = y[..., ::2]
    b = y[..., 1::2]
    y[..., ::2] = a * c - b * s  # wrong
    y[..., 1::2] = a * s + b * c
    return y
