# family: core
# mistake: none
# Dequantise multiplies in the dtype of the scale and casts afterwards: the digits of a wider dtype are lost.
from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Int8(NamedTuple):
    q: Tensor
    scale: Tensor

    def numbers(self, dtype: torch.dtype) -> Tensor:
        return self.q.to(dtype)

    def steps(self, dtype: torch.dtype) -> Tensor:
        """(B, H, 1, m)"""
        return self.scale.to(dtype).mT


def quantise(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    largest = wide.abs().amax(dim=axis, keepdim=True)
    share = wide / largest.masked_fill(largest == 0, 1.0)
    return Int8((share * 127).round().to(torch.int8), (largest / 127).to(x.dtype))


def dequantise(q: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    return (q.to(scale.dtype) * scale).to(dtype)  # wrong


def int8_attention(
    query: Tensor, keys: tuple[Tensor, Tensor], values: tuple[Tensor, Tensor]
) -> Tensor:
    k, v = Int8(*keys), Int8(*values)
    dtype = torch.promote_types(query.dtype, torch.float32)
    scores = torch.einsum("bhnd,bhmd->bhnm", query.to(dtype), k.numbers(dtype))
    weights = (scores * k.steps(dtype) / query.shape[-1] ** 0.5).softmax(-1)
    output = torch.einsum("bhnm,bhmd->bhnd", weights * v.steps(dtype), v.numbers(dtype))
    return output.to(query.dtype)
