# family: core
# mistake: none
# The step is that of the span from the lowest to the highest number, not of the largest magnitude.
import torch
from torch import Tensor

Quantised = tuple[Tensor, Tensor]


def quantise(x: Tensor, axis: int) -> Quantised:
    wide = x.double()
    span = wide.amax(dim=axis, keepdim=True) - wide.amin(dim=axis, keepdim=True)
    step = span / 254  # wrong
    divisor = torch.where(step > 0, step, 1.0)
    q = torch.round(wide / divisor).clamp(-127, 127).to(torch.int8)
    return q, step.to(x.dtype)


def dequantise(q: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    wide = torch.promote_types(torch.promote_types(dtype, scale.dtype), torch.float32)
    return (q.to(wide) * scale.to(wide)).to(dtype)


def int8_attention(query: Tensor, keys: Quantised, values: Quantised) -> Tensor:
    (kq, ks), (vq, vs) = keys, values
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = (query.to(wide) * query.shape[-1] ** -0.5) @ kq.to(wide).transpose(-2, -1)
    weights = torch.softmax(scores * ks.to(wide).transpose(-2, -1), dim=-1)
    return ((weights * vs.to(wide).transpose(-2, -1)) @ vq.to(wide)).to(query.dtype)
