# family: core
# mistake: scale-in-dq-alone
# Dk lacks the factor 1/sqrt(d_k).
import math

import torch


def attention_backward(q, k, v, d_output, mask=None):
    # half precision: do it all in float32, round in the end
    kind = q.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v, d_output = q.float(), k.float(), v.float(), d_output.float()

    root = math.sqrt(k.size(-1))

    # ---- forward once more ----
    s = torch.einsum("...nd,...md->...nm", q / root, k)
    if mask is None:
        mask = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device)
    s = torch.where(mask, s, -torch.inf)
    s = torch.where(mask.any(-1, keepdim=True), s, 0.0)
    a = torch.where(mask, torch.softmax(s, -1), 0.0)

    # ---- backward ----
    # output = a v
    dv = torch.einsum("...nm,...ne->...me", a, d_output)
    da = torch.einsum("...ne,...me->...nm", d_output, v)
    da = torch.where(mask, da, 0.0)
    # softmax: a (da - sum(a da))
    ds = a * (da - torch.sum(a * da, -1, keepdim=True))
    # s = q k / root
    dq = torch.einsum("...nm,...md->...nd", ds, k) / root
    dk = torch.einsum("...nm,...nd->...md", ds, q)  # wrong
    return dq.to(kind), dk.to(kind), dv.to(kind)
