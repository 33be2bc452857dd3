# kata: rope
# names: device-ignored
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    inv = 1.0 / base ** (torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)  # wrong
    t = torch.arange(offset, offset + seq_len, dtype=torch.float64)  # wrong
    ang = torch.einsum("i,j->ij", t, inv)
    return ang.cos().float(), ang.sin().float()


def apply_rotary(x, cos, sin):
    x1, x2 = x.unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1).flatten(-2)
