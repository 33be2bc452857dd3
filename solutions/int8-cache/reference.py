"""Keys and values in eight bits, and attention over them.

    s = max |x| / 127,   c = round(x / s),   x ~ s c
    scores_j = s_j (q c_j) / sqrt(d_k),   output = sum_j (w_j t_j) e_j   for keys s_j c_j and values t_j e_j

Symmetric quantisation as in Dettmers et al. 2022, "LLM.int8()" (arXiv:2208.07339), section 2.1; a step for each token
of a cache as in Liu et al. 2024, "KIVI" (arXiv:2402.02750), section 3.
"""

import math

import torch
from torch import Tensor

Quantised = tuple[Tensor, Tensor]
LARGEST = 127


def quantise(x: Tensor, axis: int) -> Quantised:
    """Write numbers as multiples of a step, from -127 to 127.

    x     floating point, any shape
    axis  the numbers along it share a step; may be negative

    Returns (q, scale): q in int8, of the shape of x, and the step of each row in the dtype of x, where axis is 1 long.
    """
    scale = x.abs().amax(dim=axis, keepdim=True) / LARGEST
    step = torch.where(scale > 0, scale, torch.ones_like(scale))  # zeros have no step: 0 of any
    q = torch.round(x / step).to(torch.int8)
    return q, scale


def dequantise(q: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the numbers that q and scale stand for, in this dtype and with its digits."""
    return q.to(dtype) * scale.to(dtype)


def int8_attention(query: Tensor, keys: Quantised, values: Quantised) -> Tensor:
    """Attend over a cache in which every token has a step of its own.

    query   (B, H, n, d_k), floating point; each query sees all m keys
    keys    (q, scale), int8 (B, H, m, d_k) and (B, H, m, 1)
    values  (q, scale), int8 (B, H, m, d_v) and (B, H, m, 1)

    Returns (B, H, n, d_v) in the query's dtype. A number of the cache goes through one elementwise operation at most.
    """
    key_codes, key_scale = keys
    value_codes, value_scale = values
    wide = torch.promote_types(query.dtype, torch.float32)  # products with codes overflow float16

    products = query.to(wide) @ key_codes.to(wide).transpose(-2, -1)  # (B, H, n, m)
    scores = products * key_scale.to(wide).transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, n, m)
    weights = torch.softmax(scores, dim=-1)  # (B, H, n, m)
    scaled = weights * value_scale.to(wide).transpose(-2, -1)  # (B, H, n, m)
    output = scaled @ value_codes.to(wide)  # (B, H, n, d_v)
    return output.to(query.dtype)
