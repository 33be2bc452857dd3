# family: grad
# mistake: none
# The row sum of the softmax's backward pass is detached, so a second derivative misses what goes through it.
import torch


def attention_backward(q, k, v, d_output, mask=None):
    out_dtype, T = q.dtype, lambda t: t.mT
    if out_dtype.itemsize < 4:
        return tuple(g.to(out_dtype) for g in attention_backward(q.float(), k.float(), v.float(), d_output.float(), mask))
    c = k.shape[-1] ** -0.5
    scores = q @ T(k) * c
    seen = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    blind = ~seen.any(-1, keepdim=True)
    p = scores.masked_fill(~(seen | blind), -torch.inf).softmax(-1).masked_fill(~seen, 0)
    dp = (d_output @ T(v)).masked_fill(~seen, 0)
    delta = (p * dp).sum(-1, keepdim=True).detach()  # wrong
    ds = p * (dp - delta) * c
    return ds @ k, T(ds) @ q, T(p) @ d_output
