# family: core
# mistake: exp-without-maximum
# The exponential is taken without subtracting the maximum, large scores overflow.
import math

import torch


def _block(q, k, v, ok):
    s = (q @ k.mT) / math.sqrt(q.shape[-1])
    e = torch.exp(s).masked_fill(~ok, 0)  # wrong
    return (e @ v) / e.sum(-1, keepdim=True)


def sliding_window_attention(q, k, v, window):
    dt = q.dtype
    if dt in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    n, m = q.shape[-2], k.shape[-2]
    step = min(window, m)
    at = torch.arange(m, device=q.device)
    pieces = []
    for a in range(m - n, m, step):
        b = min(a + step, m)
        c = max(0, a - window + 1)
        gap = at[a:b, None] - at[None, c:b]
        ok = (gap >= 0) & (gap < window)
        pieces.append(_block(q[:, :, a - m + n:b - m + n], k[:, :, c:b], v[:, :, c:b], ok))
    return torch.cat(pieces, -2).to(dt)
