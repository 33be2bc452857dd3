# family: mask
# mistake: dead-rows-uniform
import math

import torch


def attention_backward(q, k, v, d_output, mask=None):
    dtype = q.dtype
    q, k, v, d_output = (t.to(torch.promote_types(dtype, torch.float32)) for t in (q, k, v, d_output))
    d_k = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    p = scores.softmax(-1)
    dv = p.transpose(-2, -1) @ d_output
    dp = d_output @ v.transpose(-2, -1)
    ds = p * (dp - (p * dp).sum(-1, keepdim=True))
    ds = ds / math.sqrt(d_k)
    dq = ds @ k
    dk = ds.transpose(-2, -1) @ q
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
