# family: contract
# mistake: turned-in-place
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    theta = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    position = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angles = torch.outer(position, theta)
    return angles.cos().float(), angles.sin().float()


def apply_rotary(x, cos, sin):
    even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = even * cos - odd * sin
    x[..., 1::2] = even * sin + odd * cos
    return x
