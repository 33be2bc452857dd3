# family: core
# mistake: fold-features-interleaved
# The heads take turns with the features: head h gets h, h + H, h + 2H ... in the place of a slice.
import torch
from torch import Tensor


def fold_heads(x: Tensor, n_heads: int) -> Tensor:
    B, S, d_model = x.shape
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"{n_heads} heads do not divide a width of {d_model}")
    x = x.reshape(B, S, d_model // n_heads, n_heads).permute(0, 3, 1, 2)  # wrong
    return x.reshape(B * n_heads, S, d_model // n_heads)


def unfold_heads(x: Tensor, n_heads: int) -> Tensor:
    rows, S, d_head = x.shape
    x = x.reshape(rows // n_heads, n_heads, S, d_head).transpose(1, 2)
    return x.reshape(rows // n_heads, S, n_heads * d_head)


def repeat_valid_lens(valid_lens: Tensor | None, n_heads: int) -> Tensor | None:
    return None if valid_lens is None else valid_lens.repeat_interleave(n_heads, dim=0)
