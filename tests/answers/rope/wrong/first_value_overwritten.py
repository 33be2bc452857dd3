# family: core
# mistake: none
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    theta = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    position = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angles = torch.outer(position, theta)
    return angles.cos().float(), angles.sin().float()


def apply_rotary(x, cos, sin):
    out = x.clone()
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos  # the new even features, not the old ones
    return out
