"""Rotary positions: queries and keys are turned by an angle that grows with their position."""

import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the angles p / base^(2i / d_head), a row for each position p.

    The positions are offset, ..., offset + seq_len - 1.

    Returns (cos, sin), each (seq_len, d_head // 2), float32, on `device`.
    """
    raise NotImplementedError("your turn: positions times frequencies")


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair of features (2i, 2i + 1) of each token by the angle of its position.

    x         (B, H, S, d_head), queries or keys
    cos, sin  (S, d_head // 2), of any floating dtype

    Returns (B, H, S, d_head), with the dtype of x.
    """
    raise NotImplementedError("your turn: a rotation of each pair")
