# family: core
# mistake: none
# The offset is added to the angles instead of to the positions.
import torch
from torch import Tensor


def rotary_angles(seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device=None):
    p = torch.arange(seq_len, dtype=torch.float64, device=device)
    i = torch.arange(d_head // 2, dtype=torch.float64, device=device)
    angles = p[:, None] * base ** (-2 * i / d_head) + offset  # wrong
    return angles.cos().float(), angles.sin().float()


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    if x.dtype == torch.float64:
        cos, sin = cos.double(), sin.double()
    even, odd = x[..., 0::2], x[..., 1::2]
    y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return y.flatten(-2).to(x.dtype)
