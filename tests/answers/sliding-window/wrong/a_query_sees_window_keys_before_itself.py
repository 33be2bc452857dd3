# family: core
# mistake: window-one-too-many
# A query sees window keys before itself, one too many.
import math
import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.shape[2], k.shape[2]
    w = min(window, m)
    offset = m - n
    outs = []
    for start in range(0, n, w):
        stop = min(n, start + w)
        lo = max(0, start + offset - w)
        hi = stop + offset
        s = q[:, :, start:stop] @ k[:, :, lo:hi].transpose(-1, -2) / math.sqrt(q.shape[-1])
        qp = torch.arange(start + offset, hi, device=q.device)[:, None]
        kp = torch.arange(lo, hi, device=q.device)[None, :]
        ok = (kp <= qp) & (qp - kp <= window)  # wrong
        s = s.masked_fill(~ok, float("-inf"))
        outs.append(torch.softmax(s, dim=-1) @ v[:, :, lo:hi])
    return torch.cat(outs, dim=2)
