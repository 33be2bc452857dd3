# kata: rope
# names: pairs-of-halves
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    inv_freq = 1.0 / (base ** (torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head))
    t = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    freqs = torch.outer(t, inv_freq)
    return freqs.cos().float(), freqs.sin().float()


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)  # wrong
    return torch.cat((-x2, x1), dim=-1)  # wrong, named


def apply_rotary(x, cos, sin):
    cos = torch.cat((cos, cos), dim=-1).to(x.dtype)  # wrong, named
    sin = torch.cat((sin, sin), dim=-1).to(x.dtype)  # wrong, named
    return x * cos + rotate_half(x) * sin
