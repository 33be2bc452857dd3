# kata: rope
# names: offset-ignored
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    freqs = 1.0 / base ** (torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    t = torch.arange(seq_len, dtype=torch.float64, device=device)  # wrong
    freqs = torch.outer(t, freqs)
    return freqs.cos().float(), freqs.sin().float()


def apply_rotary(x, cos, sin):
    wide = x.dtype if x.dtype == torch.float64 else torch.float32
    x_ = torch.view_as_complex(x.to(wide).reshape(*x.shape[:-1], -1, 2))
    turn = torch.complex(cos.to(wide), sin.to(wide))
    return torch.view_as_real(x_ * turn).flatten(3).to(x.dtype)
