# family: core
# mistake: none
# Float64 goes through float32 complex numbers.
import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    inv = base ** (-torch.arange(0, d_head, 2, device=device, dtype=torch.float32) / d_head)
    t = torch.arange(offset, offset + seq_len, device=device, dtype=torch.float32)
    freqs = torch.einsum("s,f->sf", t, inv)
    return freqs.cos(), freqs.sin()


def apply_rotary(x, cos, sin):
    """Llama style: a pair is a complex number, a rotation is a product."""
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))  # wrong
    rot = torch.complex(cos.float(), sin.float())
    out = torch.view_as_real(x_ * rot).flatten(-2)
    return out.type_as(x)
