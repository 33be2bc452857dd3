# family: core
# mistake: scale-in-dq-alone
# Dk lacks the scale 1 / sqrt(d_k).
import math
import torch


def attention_backward(q, k, v, d_output, mask=None):
    out_dtype = q.dtype
    acc = torch.promote_types(out_dtype, torch.float32)
    q, k, v, do = q.to(acc), k.to(acc), v.to(acc), d_output.to(acc)
    scale = 1 / math.sqrt(k.shape[-1])
    s = q @ k.transpose(-1, -2) * scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    top = s.amax(-1, keepdim=True).detach()
    top = top.masked_fill(top == float("-inf"), 0)
    e = torch.exp(s - top)
    z = e.sum(-1, keepdim=True)
    w = e / z.masked_fill(z == 0, 1)
    dv = w.transpose(-1, -2) @ do
    dw = do @ v.transpose(-1, -2)
    if mask is not None:
        dw = dw.masked_fill(~mask, 0)
    ds = w * (dw - (w * dw).sum(-1, keepdim=True))
    dq = ds @ k * scale
    dk = ds.transpose(-1, -2) @ q  # wrong
    return dq.to(out_dtype), dk.to(out_dtype), dv.to(out_dtype)
