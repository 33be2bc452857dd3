import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    dtype = q.dtype
    if dtype in {torch.float16, torch.bfloat16}:
        q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
    return (weights @ v).to(dtype), weights.to(dtype)
