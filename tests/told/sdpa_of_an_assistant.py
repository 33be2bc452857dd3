# kata: sdpa
# names: dead-rows-nan
import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    """
    q, k, v: (..., seq_len, d_k)
    mask: optional mask, 0 = masked
    """
    d_k = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    attn_weights = F.softmax(scores, dim=-1)  # wrong
    output = torch.matmul(attn_weights, v)
    return output, attn_weights
