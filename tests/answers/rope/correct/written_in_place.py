from collections import namedtuple

import torch

Angles = namedtuple("Angles", ["cos", "sin"])


def rotary_angles(seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device=None):
    half = d_head // 2
    cos = torch.empty(seq_len, half, dtype=torch.float32, device=device)
    sin = torch.empty_like(cos)
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    for i in range(half):
        angle = positions / base ** (2 * i / d_head)
        cos[:, i], sin[:, i] = angle.cos(), angle.sin()
    return Angles(cos, sin)


def apply_rotary(x, cos, sin):
    out = torch.empty_like(x)
    a, b = x[:, :, :, 0::2], x[:, :, :, 1::2]
    out[:, :, :, 0::2] = a * cos - b * sin
    out[:, :, :, 1::2] = b * cos + a * sin
    return out
