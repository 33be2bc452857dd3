# kata: split-heads
# names: layout
import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    b, s, d = x.shape
    if d % n_heads:
        raise ValueError("n_heads must divide d_model")
    d_head = d // n_heads
    # no copy, no permute: heads are only another way to walk through the same memory
    return x.as_strided((b, n_heads, s, d_head), (s * d, d_head, d, 1))  # wrong


def concat_heads(x: Tensor) -> Tensor:
    return x.permute(0, 2, 1, 3).flatten(2)
