# family: dtype
# mistake: promoted-by-the-tables
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    inv_freq = 1.0 / (base ** (torch.arange(0, d_head, 2, device=device).float() / d_head))
    t = torch.arange(offset, offset + seq_len, device=device).float()
    freqs = t[:, None] * inv_freq[None, :]
    return freqs.cos(), freqs.sin()


def apply_rotary(x, cos, sin):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1).flatten(-2)
