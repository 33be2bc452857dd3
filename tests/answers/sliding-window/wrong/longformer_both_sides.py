# family: mask
# mistake: none
import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    half = window // 2
    out = []
    for i in range(m - n, m):
        lo, hi = max(0, i - half), min(m, i + half + 1)
        s = q[:, :, i - m + n, None] @ k[:, :, lo:hi].mT / q.size(-1) ** 0.5
        out.append(s.softmax(-1) @ v[:, :, lo:hi])
    return torch.cat(out, dim=2)
