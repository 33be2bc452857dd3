"""Attention over sequences of different lengths that stand in one row, without padding.

    output_i = sum_j softmax_j(q_i k_j / sqrt(d_k)) v_j   over the tokens j of the sequence of i; j <= i where causal

Krell et al. 2021, "Efficient Sequence Packing without Cross-contamination" (arXiv:2107.02027), section 3; the layout
with cumulative lengths is that of FlashAttention's varlen functions (Dao et al. 2022, arXiv:2205.14135).
"""

import math
from collections.abc import Sequence
from itertools import pairwise

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
    outputs = []
    for start, end in pairwise(cu_seqlens):
        length = end - start
        queries = q[start:end].transpose(0, 1)  # (H, length, d_k)
        keys = k[start:end].transpose(0, 1)  # (H, length, d_k)
        values = v[start:end].transpose(0, 1)  # (H, length, d_v)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(q.size(-1))  # (H, length, length)
        if causal:
            future = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)  # (length, length)
            scores = scores.masked_fill(future, float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # (H, length, length)
        output = weights @ values  # (H, length, d_v)
        outputs.append(output.transpose(0, 1))
    return torch.cat(outputs)  # (T, H, d_v)
