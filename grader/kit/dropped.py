"""What cases look at where dropout has acted on the sublayers of a block."""

from __future__ import annotations

import torch


def before_norm(output: torch.Tensor, spread: float) -> torch.Tensor:
    """Undo the norms of an output (..., d): its features but for the first two, (..., d - 2), as they were summed.

    The first two stood at +spread/2 and -spread/2 then, so the scale is known.
    """
    scale = (output[..., :1] - output[..., 1:2]) / spread
    return (output[..., 2:] - output[..., :1]) / scale + spread / 2


def shared(kept: torch.Tensor, axis: int) -> bool:
    """Whether all along an axis keep the same features (the last axis), as far as anything is left of them."""
    return bool(((kept == kept.any(axis, keepdim=True)) | ~kept.any(-1, keepdim=True)).all())


def spread_of(counts: torch.Tensor, seen: torch.Tensor, axis: int) -> torch.Tensor:
    """Return how far counts that are seen lie apart along an axis, at most."""
    return (counts.masked_fill(~seen, -99.0).amax(axis) - counts.masked_fill(~seen, 99.0).amin(axis)).max()
