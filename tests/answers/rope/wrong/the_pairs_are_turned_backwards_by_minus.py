# family: core
# mistake: turned-backwards
# The pairs are turned backwards, by minus the angle (scores do not notice).
from __future__ import annotations

import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    steps = torch.arange(0, 2 * (d_head // 2), 2, dtype=torch.float64, device=device)
    theta = torch.pow(torch.full_like(steps, base), -steps / d_head)
    rows = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    grid = rows.unsqueeze(-1) * theta
    return grid.cos().to(torch.float32), grid.sin().to(torch.float32)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    pairs = x.to(work).unflatten(-1, (-1, 2)).contiguous()
    z = torch.complex(pairs[..., 0], pairs[..., 1])
    turn = torch.complex(cos.to(work), -sin.to(work))  # wrong
    return torch.view_as_real(z * turn).flatten(-2).to(x.dtype)
