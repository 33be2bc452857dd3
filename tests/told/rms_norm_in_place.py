# kata: rms-norm
# names: divided-in-place
from __future__ import annotations

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Root mean square normalisation over the last axis."""
    if not x.is_floating_point():
        raise ValueError(f"x must be floating point, got {x.dtype}")
    if weight.ndim != 1 or weight.numel() != x.shape[-1]:
        raise ValueError(f"weight must be ({x.shape[-1]},), got {tuple(weight.shape)}")
    lead = x.shape[:-1]
    rows = x.reshape(-1, x.shape[-1])
    gain = weight
    if rows.dtype in (torch.half, torch.bfloat16):
        rows, gain = rows.float(), gain.float()
    ms = torch.mean(rows**2, dim=1, keepdim=True)
    scale = torch.sqrt(ms + eps)
    if torch.is_grad_enabled():
        rows = rows.div(scale).mul(gain)
    else:
        rows = rows.div_(scale).mul_(gain)  # wrong
    return rows.to(x.dtype).reshape(*lead, x.shape[-1])
