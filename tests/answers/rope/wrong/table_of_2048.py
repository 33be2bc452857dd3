# family: core
# mistake: none
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    inv_freq = 1.0 / base ** (torch.arange(0, d_head, 2, device=device).float() / d_head)
    freqs = torch.outer(torch.arange(2048, device=device).float(), inv_freq)
    freqs = freqs[offset : offset + seq_len]
    return freqs.cos(), freqs.sin()


def apply_rotary(x, cos, sin):
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
