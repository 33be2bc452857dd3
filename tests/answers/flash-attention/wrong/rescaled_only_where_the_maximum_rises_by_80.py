# family: core
# mistake: rescaled-late
# Sums are rescaled only where the maximum rises by more than 80: beside large values they overflow.
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    kind = q.dtype
    if kind in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    n, m = q.size(2), k.size(2)
    q = q / k.size(3) ** 0.5
    last = torch.arange(n, device=q.device).add(m - n).view(n, 1)
    ref = out = den = None
    start = 0
    for kb, vb in zip(k.split(block_size, 2), v.split(block_size, 2)):
        s = torch.einsum("bhid,bhjd->bhij", q, kb)
        if causal:
            s = s.where(torch.arange(start, start + kb.size(2), device=q.device) <= last, -torch.inf)
        start += kb.size(2)
        top = s.detach().amax(-1, keepdim=True)
        if ref is None:
            ref = top
            out, den = 0.0, 0.0
        new = torch.where(top > ref + 80, top, ref)  # wrong
        shrink = (ref - new).exp()
        e = (s - new).exp()
        out = out * shrink + e @ vb
        den = den * shrink + e.sum(-1, keepdim=True)
        ref = new
    return (out / den).to(kind)
