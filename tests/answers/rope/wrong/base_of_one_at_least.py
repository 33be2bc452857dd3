# family: core
# mistake: none
"""Takes bases below 1 for 1."""

import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    exponents = torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head
    angles = positions.unsqueeze(1) / max(base, 1.0) ** exponents
    cos, sin = (torch.cos(angles).float(), torch.sin(angles).float())
    return (cos, sin)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    cos, sin = (cos.to(x.dtype), sin.to(x.dtype))
    even, odd = (x[..., 0::2], x[..., 1::2])
    pairs = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return pairs.flatten(-2)
