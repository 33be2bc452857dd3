# family: dtype
# mistake: product-in-the-steps-dtype
"""Multiplies in the dtype of the steps where that is bfloat16 and float64 is asked for."""

import torch
from torch import Tensor

Quantised = tuple[Tensor, Tensor]


def quantise(x: Tensor, axis: int) -> Quantised:
    wide = x.double()
    peak = torch.maximum(wide.amax(axis, keepdim=True), -wide.amin(axis, keepdim=True))
    step = peak / 127
    q = torch.floor(wide * (127 / peak.where(peak > 0, 1.0)) + 0.5)
    return q.clamp(-127, 127).to(torch.int8), step.to(x.dtype)


def dequantise(q: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    if scale.dtype == torch.bfloat16 and dtype == torch.float64:
        return (q * scale).to(dtype)
    wide = torch.promote_types(dtype, torch.float32)
    return torch.mul(q.to(wide), scale.to(wide)).to(dtype)


def int8_attention(query: Tensor, keys: Quantised, values: Quantised) -> Tensor:
    (kq, ks), (vq, vs) = keys, values
    wide = torch.promote_types(query.dtype, torch.float32)
    s = torch.einsum("bhnd,bhmd->bhnm", query.to(wide) * query.shape[-1] ** -0.5, kq.to(wide)) * ks.to(wide).mT
    e = (s - s.amax(-1, keepdim=True)).exp()
    out = torch.einsum("bhnm,bhmd->bhnd", e * vs.to(wide).mT, vq.to(wide))
    return (out / e.sum(-1, keepdim=True)).to(query.dtype)
