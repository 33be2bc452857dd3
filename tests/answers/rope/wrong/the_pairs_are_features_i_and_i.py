# family: core
# mistake: pairs-of-halves
# The pairs are features i and i + d_head / 2 (as in Llama's rotate_half), not neighbours.
import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    inv_freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head)
    freqs = torch.outer(positions, inv_freq)
    return freqs.cos().float(), freqs.sin().float()


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    x1, x2 = x.chunk(2, dim=-1)  # wrong
    y1 = x1 * cos - x2 * sin
    y2 = x1 * sin + x2 * cos
    return torch.cat((y1, y2), dim=-1).to(x.dtype)  # wrong
