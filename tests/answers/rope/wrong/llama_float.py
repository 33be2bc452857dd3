# family: dtype
# mistake: float32-detour
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    freqs = 1.0 / (base ** (torch.arange(0, d_head, 2, device=device).float() / d_head))
    angles = torch.outer(torch.arange(offset, offset + seq_len, device=device).float(), freqs)
    return angles.cos(), angles.sin()


def apply_rotary(x, cos, sin):
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    freqs_cis = torch.complex(cos.float(), sin.float())
    return torch.view_as_real(x_ * freqs_cis).flatten(3).type_as(x)
