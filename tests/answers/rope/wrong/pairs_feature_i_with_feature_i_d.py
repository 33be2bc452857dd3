# family: core
# mistake: none
# Pairs feature i with feature i + d/2 (rotate half), not neighbours.
import torch
from torch import Tensor


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    i = torch.arange(0, d_head, 2, dtype=torch.float32, device=device)
    inv_freq = 1.0 / base ** (i / d_head)
    pos = torch.arange(offset, offset + seq_len, dtype=torch.float32, device=device)
    angles = torch.outer(pos, inv_freq)
    return angles.cos(), angles.sin()


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    x1, x2 = x.chunk(2, dim=-1)  # wrong
    y1 = x1 * cos - x2 * sin
    y2 = x1 * sin + x2 * cos
    return torch.stack((y1, y2), dim=-1).flatten(-2)
