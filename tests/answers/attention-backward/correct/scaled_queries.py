"""The scale sits in the query on the way there, and in dq on the way back."""
import torch
from torch import Tensor


def attention_backward(q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None):
    kind, scale = q.dtype, float(k.shape[-1]) ** -0.5
    acc = kind if kind == torch.float64 else torch.float32
    k, v, d_output = k.to(acc), v.to(acc), d_output.to(acc)
    qs = q.to(acc) * scale
    scores = qs @ k.transpose(-1, -2)
    if mask is None:
        visible = torch.ones_like(scores, dtype=torch.bool)
    else:
        visible = mask.broadcast_to(scores.shape)
    top = scores.masked_fill(~visible, float("-inf")).amax(-1, keepdim=True)
    top = top.masked_fill(top == float("-inf"), 0.0).detach()
    e = torch.exp((scores - top).masked_fill(~visible, float("-inf")))
    total = e.sum(-1, keepdim=True)
    weights = e / total.masked_fill(total == 0, 1.0)
    dv = weights.transpose(-1, -2) @ d_output
    dw = d_output @ v.transpose(-1, -2)
    ds = weights * (dw - (weights * dw).sum(-1, keepdim=True))
    dq = (ds @ k) * scale
    dk = ds.transpose(-1, -2) @ qs
    return dq.to(kind), dk.to(kind), dv.to(kind)
