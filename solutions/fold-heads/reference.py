"""Heads folded into the batch: single-head attention code then computes many heads without knowing it.

    folded[b * H + h, s, i] = x[b, s, h * d_head + i]        d_head = d_model // n_heads
    lengths[b * H + h] = valid_lens[b]

The heads of Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.2.2, in the layout of
PyTorch's own multi_head_attention_forward and of textbook code: each head is a batch row of its own.
"""

from torch import Tensor


def fold_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, S, d_model) to (B * H, S, d_head) with d_head = d_model // n_heads.

    Row b * H + h holds features h * d_head to (h + 1) * d_head - 1 of sequence b.
    Raises ValueError where n_heads does not divide d_model.
    """
    batch, length, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
    d_head = d_model // n_heads
    tokens = x.reshape(batch, length, n_heads, d_head)  # (B, S, H, d_head)
    heads = tokens.transpose(1, 2)  # (B, H, S, d_head)
    return heads.reshape(batch * n_heads, length, d_head)  # (B * H, S, d_head)


def unfold_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B * H, S, d_head) back to (B, S, d_model): the inverse of fold_heads."""
    rows, length, d_head = x.shape
    batch = rows // n_heads
    heads = x.reshape(batch, n_heads, length, d_head)  # (B, H, S, d_head)
    tokens = heads.transpose(1, 2)  # (B, S, H, d_head)
    return tokens.reshape(batch, length, n_heads * d_head)  # (B, S, H * d_head)


def repeat_valid_lens(valid_lens: Tensor | None, n_heads: int) -> Tensor | None:
    """Give each row of the folded batch the lengths of its sequence.

    (B,) to (B * H,), one length for each sequence; (B, n) to (B * H, n), one for each query; None stays None.
    """
    if valid_lens is None:
        return None
    return valid_lens.repeat_interleave(n_heads, dim=0)
