# family: grad
# mistake: tables-remembered
# Tables are remembered: those that were made in inference mode come back in training.
from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=None)  # wrong
def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    i = torch.arange(0, d_head, 2, dtype=torch.float64, device=device)
    p = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angle = torch.outer(p, float(base) ** (-i / d_head))
    return angle.cos().float(), angle.sin().float()


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).to(x.dtype)
