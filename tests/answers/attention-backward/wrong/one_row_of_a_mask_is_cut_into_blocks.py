# family: mask
# mistake: none
# Queries go in blocks, and a mask of one row is cut into blocks as if it had a row for each query.
import math

import torch


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask
    dead = hidden.all(-1, keepdim=True)
    s = scores.masked_fill(hidden, float("-inf")).masked_fill(dead, 0.0)
    return s.softmax(-1).masked_fill(hidden, 0.0)


def attention_backward(q, k, v, d_output, mask=None):
    kind = torch.promote_types(q.dtype, torch.float32)
    Q, K, V, G = (t.to(kind) for t in (q, k, v, d_output))
    scale = 1 / math.sqrt(k.shape[-1])
    cut = mask is not None and Q.shape[-2] > 128
    scores = Q @ K.transpose(-1, -2) * scale
    w = torch.cat([attend_weights(s, mask[..., i * 128 : i * 128 + 128, :] if cut else mask) for i, s in enumerate(scores.split(128, -2))], -2)  # wrong
    dv = w.transpose(-1, -2) @ G
    dw = G @ V.transpose(-1, -2)
    if mask is not None:
        dw = dw.masked_fill(~mask, 0.0)
    ds = w * (dw - (w * dw).sum(-1, keepdim=True)) * scale
    dq = ds @ K
    dk = ds.transpose(-1, -2) @ Q
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
