"""Rotary positions: queries and keys are turned by an angle that grows with their position.

    (y_2i, y_2i+1) = (x_2i cos a - x_2i+1 sin a, x_2i sin a + x_2i+1 cos a)        a = p / base^(2i / d_head)

A score of two turned vectors depends on their distance alone: with R(a) for the rotation, R(a)ᵀ R(b) = R(b - a).
Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding" (arXiv:2104.09864), section 3.4.2.
"""

import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the angles, a row for each of the positions offset, ..., offset + seq_len - 1.

    Returns (cos, sin), each (seq_len, d_head // 2), float32, on `device`.
    """
    # In float64 until the end: at position 700 float32 angles have lost three digits.
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)  # (seq_len,)
    exponents = torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head  # (d_head // 2,)
    angles = positions.unsqueeze(1) / base**exponents  # (seq_len, d_head // 2)
    cos, sin = torch.cos(angles).float(), torch.sin(angles).float()
    return cos, sin


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair of features (2i, 2i + 1) of each token by the angle of its position.

    x         (B, H, S, d_head), queries or keys
    cos, sin  (S, d_head // 2), of any floating dtype

    Returns (B, H, S, d_head), with the dtype of x.
    """
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (B, H, S, d_head // 2)
    pairs = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (B, H, S, d_head // 2, 2)
    return pairs.flatten(-2)  # (B, H, S, d_head)
