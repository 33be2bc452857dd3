import torch
import torch.nn.functional as F


def windows(x, w):
    x = F.pad(x, (0, 0, w - 1, 0)).contiguous()
    B, H, L, d = x.shape
    sb, sh, sl, sd = x.stride()
    return x.as_strided((B, H, L - w + 1, w, d), (sb, sh, sl, sl, sd))


def sliding_window_attention(q, k, v, window):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = (t.float() for t in (q, k, v))
    n, m = q.size(2), k.size(2)
    w = window if window < m else m
    kw, vw = windows(k, w)[:, :, -n:], windows(v, w)[:, :, -n:]
    s = (kw @ q.unsqueeze(-1)).squeeze(-1).div(q.size(-1) ** 0.5)
    there = F.pad(torch.ones(m, dtype=torch.bool, device=q.device), (w - 1, 0)).unfold(0, w, 1)[-n:]
    s = s.masked_fill(there.logical_not(), -torch.inf)
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return ((e / e.sum(-1, keepdim=True)).unsqueeze(-2) @ vw).squeeze(-2).to(dtype)
