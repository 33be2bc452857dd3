"""Attention over sequences of different lengths that stand in one row, without padding."""

from collections.abc import Sequence

import torch
from torch import Tensor


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Sequence[int], causal: bool = False) -> Tensor:
    """Attend within each of the sequences that stand behind one another.

    q           (T, H, d_k), the tokens of all sequences
    k           (T, H, d_k)
    v           (T, H, d_v)
    cu_seqlens  B + 1 whole numbers from 0 to T that never fall: sequence b has rows cu_seqlens[b] to
                cu_seqlens[b + 1] - 1; a sequence may be empty
    causal      a token sees itself and earlier tokens of its sequence only

    Returns (T, H, d_v). Work and memory grow with the squares of the lengths, not with T * T or the longest one.
    """
    raise NotImplementedError("your turn: no token sees another sequence")
