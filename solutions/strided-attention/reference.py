"""Causal attention in which a query sees the last few keys, and one in every few before them.

    output_i = sum_j softmax_j(q_i k_j / sqrt(d_k)) v_j   over j <= i with i - j < stride or stride | i - j

Child et al. 2019, "Generating Long Sequences with Sparse Transformers" (arXiv:1904.10509), section 4.3: both patterns
of strided attention, merged into one head.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F


def strided_mask(n: int, stride: int, device: torch.device | str | None = None) -> Tensor:
    """Tell which keys each of n queries sees.

    n       how many tokens
    stride  how many of the last keys are seen, and how far the others lie apart; at least 1, may exceed n
    device  where the mask is created; None = as torch.empty does

    Returns a bool mask (n, n), True where the query (row) may attend to the key (column).
    """
    positions = torch.arange(n, device=device)  # (n,)
    distance = positions[:, None] - positions  # (n, n)
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    """Attend under that mask without building it.

    q       (B, H, n, d_k)
    k       (B, H, n, d_k)
    v       (B, H, n, d_v)
    stride  as in strided_mask

    Returns (B, H, n, d_v). Work and memory grow with n * (stride + n / stride), not with n * n.
    """
    n = q.size(2)
    stride = min(stride, n)
    rows = math.ceil(n / stride)

    # Position p stands in row p // stride, column p % stride; the last row is filled up.
    fill = (0, 0, 0, rows * stride - n)
    queries = F.pad(q, fill).unflatten(2, (rows, stride))  # (B, H, rows, stride, d_k)
    keys = F.pad(k, fill).unflatten(2, (rows, stride))  # (B, H, rows, stride, d_k)
    values = F.pad(v, fill).unflatten(2, (rows, stride))  # (B, H, rows, stride, d_v)
    above = (0, 0, 0, 0, 1, 0)
    near_keys = torch.cat([F.pad(keys, above)[:, :, :-1], keys], dim=3)  # (B, H, rows, 2 * stride, d_k)
    near_values = torch.cat([F.pad(values, above)[:, :, :-1], values], dim=3)  # (B, H, rows, 2 * stride, d_v)

    near = queries @ near_keys.transpose(-2, -1)  # (B, H, rows, stride, 2 * stride)
    far = queries.transpose(2, 3) @ keys.permute(0, 1, 3, 4, 2)  # (B, H, stride, rows, rows)
    scores = torch.cat([near, far.transpose(2, 3)], dim=-1) / math.sqrt(q.size(-1))

    row = torch.arange(rows, device=q.device)[:, None, None]  # (rows, 1, 1)
    column = torch.arange(stride, device=q.device)[:, None]  # (stride, 1)
    place = torch.arange(-stride, stride, device=q.device)  # (2 * stride,), from the start of the query's row
    there = row * stride + place >= 0  # (rows, 1, 2 * stride)
    in_window = (place <= column) & (place > column - stride) & there  # (rows, stride, 2 * stride)
    in_column = (torch.arange(rows, device=q.device) < row).expand(rows, stride, rows)  # (rows, stride, rows)
    visible = torch.cat([in_window, in_column], dim=-1)  # (rows, stride, 2 * stride + rows)

    weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1)
    near_weights, far_weights = weights.split([2 * stride, rows], dim=-1)
    output = near_weights @ near_values  # (B, H, rows, stride, d_v)
    output = output + (far_weights.transpose(2, 3) @ values.transpose(2, 3)).transpose(2, 3)
    return output.flatten(2, 3)[:, :, :n]  # (B, H, n, d_v)
