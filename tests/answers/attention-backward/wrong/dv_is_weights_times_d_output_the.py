# family: core
# mistake: none
# Dv is weights times d_output, the transpose is forgotten.
import torch


def softmax_masked(s, mask):
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    m = s.amax(dim=-1, keepdim=True).detach().clamp(min=torch.finfo(s.dtype).min)
    e = (s - m).exp()
    if mask is not None:
        e = e.masked_fill(~mask, 0)
    t = e.sum(dim=-1, keepdim=True)
    return e / (t + (t == 0).to(t.dtype))


def attention_backward(q, k, v, d_output, mask=None):
    acc = q.dtype if q.dtype == torch.float64 else torch.float32
    qa, ka, va, da = q.to(acc), k.to(acc), v.to(acc), d_output.to(acc)
    c = ka.shape[-1] ** -0.5
    p = softmax_masked(c * (qa @ ka.mT), mask)
    dv = p @ da  # wrong
    dp = da @ va.mT
    if mask is not None:
        dp = dp.masked_fill(~mask, 0)
    ds = c * p * (dp - (p * dp).sum(dim=-1, keepdim=True))
    return (ds @ ka).to(q.dtype), (ds.mT @ qa).to(k.dtype), dv.to(v.dtype)
