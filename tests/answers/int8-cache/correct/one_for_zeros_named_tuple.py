from typing import NamedTuple

import torch


class Int8(NamedTuple):
    q: torch.Tensor
    scale: torch.Tensor


def quantise(x, axis):
    top = torch.amax(torch.abs(x), axis, keepdim=True)
    scale = torch.where(top == 0, torch.ones_like(top), top / 127)
    return Int8((x / scale).round().char(), scale)


def dequantise(q, scale, dtype):
    wide = torch.promote_types(dtype, torch.float32)
    return (q.to(wide) * scale.to(wide)).to(dtype)


def int8_attention(query, keys, values):
    (k, k_step), (v, v_step) = keys, values
    wide = torch.promote_types(query.dtype, torch.float32)
    q = query.to(wide) * query.size(-1) ** -0.5
    scores = torch.matmul(q, k.to(wide).mT) * k_step.mT.to(wide)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = e / e.sum(-1, keepdim=True)
    return torch.matmul(weights * v_step.mT.to(wide), v.to(wide)).to(query.dtype)
