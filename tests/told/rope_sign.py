# kata: rope
# names: turned-backwards
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    theta = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    m = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angles = m[:, None] * theta[None, :]
    return torch.cos(angles).float(), torch.sin(angles).float()


def apply_rotary(x, cos, sin):
    even, odd = x[..., ::2], x[..., 1::2]
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    out = torch.empty_like(x)
    out[..., ::2] = even * cos + odd * sin  # wrong
    out[..., 1::2] = odd * cos - even * sin  # wrong, named
    return out
