# family: core
# mistake: queries-overwritten
# Scales the caller's queries in place.
from math import sqrt

from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None):
    q /= sqrt(q.shape[-1])  # wrong
    a = q @ k.transpose(-1, -2)
    if mask is not None:
        a = a.masked_fill(mask.logical_not(), float("-inf"))
    a = a.softmax(-1)
    if mask is not None:
        a = a.masked_fill(mask.logical_not(), 0)
    return a @ v, a
