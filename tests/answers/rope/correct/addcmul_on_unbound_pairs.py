import math

import torch


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    log_step = -math.log(base) * 2 / d_head
    frequencies = torch.exp(torch.arange(d_head // 2, dtype=torch.float64, device=device) * log_step)
    angles = torch.linspace(offset, offset + seq_len - 1, seq_len, dtype=torch.float64, device=device)
    turn = torch.polar(torch.ones((), dtype=torch.float64, device=device), angles[:, None] * frequencies)
    return turn.real.float(), turn.imag.float()


def apply_rotary(x, cos, sin):
    dtype = x.dtype
    compute = torch.promote_types(dtype, torch.float32)
    first, second = x.to(compute).view(*x.shape[:-1], x.shape[-1] // 2, 2).unbind(-1) if x.is_contiguous() else (
        x.to(compute)[..., ::2],
        x.to(compute)[..., 1::2],
    )
    cos, sin = cos.to(compute)[None, None, :, :], sin.to(compute)[None, None, :, :]
    top = torch.addcmul(first * cos, second, sin, value=-1)
    bottom = torch.addcmul(first * sin, second, cos)
    return torch.stack((top, bottom), dim=-1).reshape_as(x).to(dtype)
