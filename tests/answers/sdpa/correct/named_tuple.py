import math
from typing import NamedTuple

import torch


class Attention(NamedTuple):
    output: torch.Tensor
    weights: torch.Tensor


def stable_softmax(x, keep):
    if keep is None:
        e = torch.exp(x - x.max(-1, keepdim=True)[0])
        return e / e.sum(-1, keepdim=True)
    low = torch.finfo(x.dtype).min
    top = x.masked_fill(~keep, low).max(-1, keepdim=True)[0]
    e = torch.exp(torch.where(keep, x - top, 0.0)) * keep
    return e / e.sum(-1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)


def scaled_dot_product_attention(q, k, v, mask=None):
    q = q / math.sqrt(k.size(-1))
    weights = stable_softmax(torch.matmul(q, k.swapaxes(-1, -2)), mask)
    return Attention(weights @ v, weights)
