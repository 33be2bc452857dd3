"""Split a sequence into heads, and put it together again.

    split[b, h, s, i] = x[b, s, h * d_head + i]        d_head = d_model // n_heads

The layout of Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.2.2: head h works on
slice h of the model's width, and concatenation is along the width.
"""

from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, S, d_model) to (B, H, S, d_head) with d_head = d_model // n_heads.

    Head h holds features h * d_head to (h + 1) * d_head - 1 of each token.
    Raises ValueError where n_heads does not divide d_model.
    """
    batch, length, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
    d_head = d_model // n_heads
    tokens = x.reshape(batch, length, n_heads, d_head)  # (B, S, H, d_head)
    return tokens.transpose(1, 2)  # (B, H, S, d_head)


def concat_heads(x: Tensor) -> Tensor:
    """(B, H, S, d_head) back to (B, S, d_model): the inverse of split_heads."""
    batch, n_heads, length, d_head = x.shape
    tokens = x.transpose(1, 2)  # (B, S, H, d_head)
    return tokens.reshape(batch, length, n_heads * d_head)  # (B, S, d_model)
