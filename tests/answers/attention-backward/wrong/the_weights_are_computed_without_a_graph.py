# family: grad
# mistake: weights-detached
# The weights are computed without a graph, the results cannot be differentiated once more.
import torch


def attention_backward(q, k, v, d_output, mask=None):
    dt = q.dtype
    if dt in (torch.float16, torch.bfloat16):
        q, k, v, d_output = q.float(), k.float(), v.float(), d_output.float()
    scale = k.size(-1) ** -0.5
    with torch.no_grad():  # wrong
        logits = torch.matmul(q, k.mT) * scale
        if mask is not None:
            logits = logits.masked_fill(mask.logical_not(), float("-inf"))
        hi = logits.max(-1, keepdim=True).values
        hi = torch.where(torch.isinf(hi), torch.zeros_like(hi), hi)
        num = (logits - hi).exp()
        den = num.sum(-1, keepdim=True)
        p = num / torch.where(den > 0, den, torch.ones_like(den))
    dv = torch.matmul(p.mT, d_output)
    dp = torch.matmul(d_output, v.mT)
    if mask is not None:
        dp = torch.where(mask, dp, torch.zeros_like(dp))
    ds = p * (dp - (dp * p).sum(-1, keepdim=True))
    dq = torch.matmul(ds, k) * scale
    dk = torch.matmul(ds.mT, q) * scale
    return dq.to(dt), dk.to(dt), dv.to(dt)
