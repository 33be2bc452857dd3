# family: core
# mistake: cut-off-instead-of-rounded
# X / scale is cut off by the cast to int8 where it must be rounded to the nearest whole number.
import torch
from torch import Tensor

Quantised = tuple[Tensor, Tensor]


def quantise(x: Tensor, axis: int) -> Quantised:
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    largest = wide.abs().amax(dim=axis, keepdim=True)
    scale = (largest / 127).to(x.dtype)
    safe = torch.where(largest > 0, largest, torch.ones_like(largest))
    q = (wide / safe * 127).clamp(-127, 127).to(torch.int8)  # wrong
    return q, scale


def dequantise(q: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    wide = torch.promote_types(scale.dtype, dtype)
    return (q.to(wide) * scale.to(wide)).to(dtype)


def int8_attention(query: Tensor, keys: Quantised, values: Quantised) -> Tensor:
    (k, k_scale), (v, v_scale) = keys, values
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = query.to(wide) @ k.to(wide).transpose(-2, -1)
    scores = scores * k_scale.to(wide).transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return ((weights * v_scale.to(wide).transpose(-2, -1)) @ v.to(wide)).to(query.dtype)
