# family: mask
# mistake: places-before-the-start-count
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    kp = F.pad(k, (0, 0, window - 1, 0))
    vp = F.pad(v, (0, 0, window - 1, 0))
    out = []
    for i in range(m - n, m):
        s = q[:, :, i - m + n, None] @ kp[:, :, i : i + window].mT / q.size(-1) ** 0.5
        out.append(s.softmax(-1) @ vp[:, :, i : i + window])
    return torch.cat(out, dim=2)
