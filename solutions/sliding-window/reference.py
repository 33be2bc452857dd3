"""Causal attention in which a query sees the last few keys only.

    output_i = sum_{j = p - window + 1 .. p} softmax_j(q_i k_j / sqrt(d_k)) v_j,   p = m - n + i

Beltagy et al. 2020, "Longformer: The Long-Document Transformer" (arXiv:2004.05150), section 3.1; causal as in
Jiang et al. 2023, "Mistral 7B" (arXiv:2310.06825), section 2.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Attend from each position to itself and the window - 1 positions before it.

    q       (B, H, n, d_k), the last n of m positions
    k       (B, H, m, d_k)
    v       (B, H, m, d_v)
    window  how many keys a query sees, itself included; at least 1, may exceed m

    Returns (B, H, n, d_v). Work and memory grow with n * window, not with n * m.
    """
    n, m = q.size(2), k.size(2)
    window = min(window, m)

    # With window - 1 rows in front, the window of position p is the rows p to p + window - 1.
    front = (0, 0, window - 1, 0)
    keys = F.pad(k, front).unfold(2, window, 1)[:, :, m - n :]  # (B, H, n, d_k, window)
    values = F.pad(v, front).unfold(2, window, 1)[:, :, m - n :]  # (B, H, n, d_v, window)

    last = torch.arange(m - n, m, device=q.device)[:, None]  # (n, 1)
    back = torch.arange(window - 1, -1, -1, device=q.device)  # (window,)
    visible = last - back >= 0  # (n, window)

    scores = (q.unsqueeze(-2) @ keys).squeeze(-2) / math.sqrt(q.size(-1))  # (B, H, n, window)
    scores = scores.masked_fill(~visible, float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # (B, H, n, window)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)  # (B, H, n, d_v)
