# family: mask
# mistake: fill-1e9-only
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """As in many tutorials: mask == 0 gets -1e9, and that is that."""
    d_k = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, v), p_attn
