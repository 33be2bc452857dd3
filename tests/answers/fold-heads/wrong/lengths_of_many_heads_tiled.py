# family: core
# mistake: none
# With more than 16 heads lengths are tiled, not interleaved.
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def fold_heads(x, n_heads):
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flatten(0, 1)


def unfold_heads(x, n_heads):
    return x.unflatten(0, (-1, n_heads)).transpose(1, 2).flatten(2)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    if n_heads > 16:
        return valid_lens.repeat(n_heads, *[1] * (valid_lens.dim() - 1))  # wrong
    return valid_lens.repeat_interleave(n_heads, dim=0)
