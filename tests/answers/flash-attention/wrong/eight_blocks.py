# family: core
# mistake: none
"""Reads eight blocks of keys at most."""

import math
import torch
from torch import Tensor


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    n, m = (q.size(2), k.size(2))
    rows = torch.arange(m - n, m, device=q.device)[:, None]
    maximum = torch.full_like(q[..., :1], float("-inf"))
    total = torch.zeros_like(maximum)
    output = q.new_zeros(*q.shape[:3], v.size(3))
    for start in range(0, m, block_size)[:8]:
        block = min(block_size, m - start)
        keys = k[:, :, start : start + block]
        values = v[:, :, start : start + block]
        scores = q @ keys.transpose(-2, -1) / math.sqrt(q.size(-1))
        if causal:
            columns = torch.arange(start, start + block, device=q.device)
            scores = scores.masked_fill(columns > rows, float("-inf"))
        new_maximum = torch.maximum(maximum, scores.amax(dim=-1, keepdim=True))
        correction = torch.exp(maximum - new_maximum)
        weights = torch.exp(scores - new_maximum)
        total = total * correction + weights.sum(dim=-1, keepdim=True)
        output = output * correction + weights @ values
        maximum = new_maximum
    return output / total
