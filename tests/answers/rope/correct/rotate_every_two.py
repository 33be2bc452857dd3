import torch
from torch import Tensor


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    inv_freq = base ** -(torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    position = torch.arange(seq_len, dtype=torch.float64, device=device) + offset
    angles = torch.einsum("i,j->ij", position, inv_freq)
    return angles.cos().to(torch.float32), angles.sin().to(torch.float32)


def rotate_every_two(x: Tensor) -> Tensor:
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).reshape(x.shape)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    cos, sin = (t.repeat_interleave(2, dim=-1)[None, None] for t in (cos, sin))
    return (x * cos + rotate_every_two(x) * sin).type_as(x)
