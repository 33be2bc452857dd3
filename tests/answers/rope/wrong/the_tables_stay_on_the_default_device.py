# family: device
# mistake: device-ignored
# The tables stay on the default device, device is ignored.
import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    half = d_head // 2
    freqs = torch.tensor([base ** (-2 * i / d_head) for i in range(half)], dtype=torch.float32)
    p = torch.arange(offset, offset + seq_len).to(torch.float32)
    table = p.unsqueeze(1) * freqs.unsqueeze(0)  # wrong
    return table.cos(), table.sin()


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    cos = cos.to(dtype=x.dtype)
    sin = sin.to(dtype=x.dtype)
    pairs = x.unflatten(-1, (-1, 2))
    a, b = pairs.unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
