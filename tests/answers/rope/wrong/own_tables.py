# family: core
# mistake: none
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    theta = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    position = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angles = torch.outer(position, theta)
    return angles.cos().float(), angles.sin().float()


def apply_rotary(x, cos, sin):
    """Makes the tables anew: for position 0 and base 10000 nobody notices."""
    cos, sin = (table.to(x.dtype) for table in rotary_angles(x.size(2), x.size(3), device=x.device))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)
