"""The masks of a Transformer. True = this key may be attended to.

    padding[b, 0, 0, j] = (token_ids[b, j] != pad_id)
    causal[i, j] = (j <= i + m - n)

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.2.3. With n < m the queries are the
last n of m positions, as in decoding with a cache, so that the triangle is aligned to the bottom right.
"""

import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    """(B, S) token ids to a bool mask (B, 1, 1, S) that hides the padding."""
    keep = token_ids.long() != pad_id  # (B, S); int64, where every id is itself
    return keep[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """Bool mask (n, m) for n queries that are the last n of m positions; m = None means m = n.

    A query sees its own position and all before it.
    """
    if m is None:
        m = n
    query_positions = torch.arange(n, device=device) + (m - n)  # (n,)
    key_positions = torch.arange(m, device=device)  # (m,)
    return key_positions <= query_positions[:, None]  # (n, m)


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Combine masks that broadcast: visible is what all of them show. None is skipped; None where no mask is left."""
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined
