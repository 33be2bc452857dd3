# family: device
# mistake: device-ignored
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    theta = base ** (-torch.arange(0, d_head, 2, dtype=torch.float32) / d_head)
    position = torch.arange(offset, offset + seq_len, dtype=torch.float32)
    return torch.outer(position, theta).cos(), torch.outer(position, theta).sin()


def apply_rotary(x, cos, sin):
    cos, sin = cos.to(x), sin.to(x)
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1).flatten(-2)
