# family: core
# mistake: none
# All inputs are computed in float32, float64 too.
import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    i = torch.arange(d_head // 2, device=device).double()
    p = torch.arange(seq_len, device=device).double() + offset
    angle = p[:, None] / base ** (2 * i / d_head)
    return torch.cos(angle).to(torch.float32), torch.sin(angle).to(torch.float32)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)  # wrong
    even, odd = pairs.unbind(dim=-1)
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)
