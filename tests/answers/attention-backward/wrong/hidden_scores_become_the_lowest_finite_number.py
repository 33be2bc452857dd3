# family: core
# mistake: dead-rows-add-to-dv
# Hidden scores become the lowest finite number, a query that sees nothing gets uniform weights.
import math

import torch


def attention_backward(q, k, v, d_output, mask=None):
    in_dtype = q.dtype
    ct = torch.promote_types(in_dtype, torch.float32)
    qf, kf, vf, gf = q.to(ct), k.to(ct), v.to(ct), d_output.to(ct)
    d_k = kf.shape[-1]

    # forward
    scores = (qf @ kf.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(ct).min)  # wrong
    attn = scores.softmax(dim=-1)

    # backward
    dv = attn.transpose(-2, -1) @ gf
    d_attn = gf @ vf.transpose(-2, -1)
    if mask is not None:
        d_attn = d_attn.masked_fill(~mask, 0.0)
    inner = (d_attn * attn).sum(dim=-1, keepdim=True)
    d_scores = attn * (d_attn - inner) / math.sqrt(d_k)
    dq = d_scores @ kf
    dk = d_scores.transpose(-2, -1) @ qf
    return dq.to(in_dtype), dk.to(in_dtype), dv.to(in_dtype)
