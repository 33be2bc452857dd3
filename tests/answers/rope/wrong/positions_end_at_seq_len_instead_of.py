# family: core
# mistake: offset-shortens-the-table
# Positions end at seq_len instead of offset + seq_len.
import torch
from torch import Tensor


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    freq = 1 / (base ** (torch.arange(0, d_head, 2, dtype=torch.float32, device=device) / d_head))
    pos = torch.arange(offset, seq_len, dtype=torch.float32, device=device)  # wrong
    ang = pos.view(-1, 1) * freq.view(1, -1)
    return ang.cos(), ang.sin()


def _rotate_pairs(x: Tensor) -> Tensor:
    # (a, b) -> (-b, a)
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    c = cos.repeat_interleave(2, dim=-1).to(x.dtype)
    s = sin.repeat_interleave(2, dim=-1).to(x.dtype)
    return x * c + _rotate_pairs(x) * s
