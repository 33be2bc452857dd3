# family: core
# mistake: none
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    theta = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    position = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angles = torch.outer(position, theta)
    return angles.cos().float(), angles.sin().float()


def apply_rotary(x, cos, sin):
    rows = x.view(-1, x.size(-1)).view(-1, x.size(-2), x.size(-1) // 2, 2)  # fails for a transposed tensor
    even, odd = rows.unbind(-1)
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1)
    return turned.reshape(x.shape).to(x.dtype)
