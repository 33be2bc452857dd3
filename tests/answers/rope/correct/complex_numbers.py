import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    freqs = 1.0 / (base ** (torch.arange(0, d_head, 2, device=device).float() / d_head))
    t = torch.arange(offset, offset + seq_len, device=device).float()
    angles = torch.outer(t, freqs)
    return torch.cos(angles), torch.sin(angles)


def apply_rotary(x, cos, sin):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    pairs = torch.view_as_complex(x.to(wide).reshape(*x.shape[:-1], -1, 2))
    turn = torch.complex(cos.to(wide), sin.to(wide))
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
