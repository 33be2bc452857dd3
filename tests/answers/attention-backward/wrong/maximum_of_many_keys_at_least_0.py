# family: core
# mistake: none
# With more than 128 keys the maximum is at least 0: rows far below it underflow.
import math

import torch


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if scores.shape[-1] > 128:
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=scores.device).expand(scores.shape)
        s = scores.masked_fill(~mask, float("-inf"))
        e = (s - s.amax(-1, keepdim=True).clamp(min=0).detach()).exp()  # wrong
        total = e.sum(-1, keepdim=True)
        return e / total.masked_fill(total == 0, 1.0)
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
    w = attend_weights(Q @ K.transpose(-1, -2) * scale, mask)
    dv = w.transpose(-1, -2) @ G
    dw = G @ V.transpose(-1, -2)
    if mask is not None:
        dw = dw.masked_fill(~mask, 0.0)
    ds = w * (dw - (w * dw).sum(-1, keepdim=True)) * scale
    dq = ds @ K
    dk = ds.transpose(-1, -2) @ Q
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
