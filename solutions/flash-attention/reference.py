"""Softmax attention block by block, without the matrix of scores.

    m' = max(m, max_j s_j),   l' = exp(m - m') l + sum_j exp(s_j - m'),   o' = exp(m - m') o + sum_j exp(s_j - m') v_j

for the scores s_j = q k_j / sqrt(d_k) of each block of keys; the result is o / l after the last one.
Dao et al. 2022, "FlashAttention" (arXiv:2205.14135), section 3.1; the recurrence is that of
Milakov and Gimelshein 2018, "Online normalizer calculation for softmax" (arXiv:1805.02867).
"""

import math

import torch
from torch import Tensor


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    """Attend over blocks of keys, with a softmax that is corrected as they come.

    q           (B, H, n, d_k); where causal, the last n of m positions
    k           (B, H, m, d_k)
    v           (B, H, m, d_v)
    block_size  how many keys are taken at a time; need not divide m, may exceed it
    causal      a query sees its own and earlier positions only

    Returns (B, H, n, d_v). At no time is there an n x m matrix, of whatever dtype, whole or in pieces.
    """
    n, m = q.size(2), k.size(2)
    rows = torch.arange(m - n, m, device=q.device)[:, None]  # (n, 1)

    maximum = torch.full_like(q[..., :1], float("-inf"))  # (B, H, n, 1)
    total = torch.zeros_like(maximum)  # (B, H, n, 1)
    output = q.new_zeros(*q.shape[:3], v.size(3))  # (B, H, n, d_v)

    for start in range(0, m, block_size):
        block = min(block_size, m - start)
        keys = k[:, :, start : start + block]  # (B, H, block, d_k)
        values = v[:, :, start : start + block]  # (B, H, block, d_v)

        scores = q @ keys.transpose(-2, -1) / math.sqrt(q.size(-1))  # (B, H, n, block)
        if causal:
            columns = torch.arange(start, start + block, device=q.device)  # (block,)
            scores = scores.masked_fill(columns > rows, float("-inf"))

        new_maximum = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))  # (B, H, n, 1)
        correction = torch.exp(maximum - new_maximum)  # (B, H, n, 1)
        weights = torch.exp(scores - new_maximum)  # (B, H, n, block)

        total = total * correction + weights.sum(dim=-1, keepdim=True)  # (B, H, n, 1)
        output = output * correction + weights @ values  # (B, H, n, d_v)
        maximum = new_maximum

    return output / total  # (B, H, n, d_v)
