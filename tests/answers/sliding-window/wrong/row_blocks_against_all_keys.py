# family: cost
# mistake: each-query-against-all-keys
import math

import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    out = []
    for start in range(0, n, 16):
        rows = torch.arange(start, min(start + 16, n), device=q.device)[:, None] + m - n
        cols = torch.arange(m, device=q.device)
        hidden = (cols > rows) | (cols <= rows - window)
        s = q[:, :, start : start + 16] @ k.mT / math.sqrt(q.size(-1))
        out.append(s.masked_fill(hidden, float("-inf")).softmax(-1) @ v)
    return torch.cat(out, dim=2)
