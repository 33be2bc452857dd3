import math

import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    B, H, n, d = q.shape
    m = k.shape[2]
    size = min(window, m)
    outputs = []
    for start in range(0, n, size):
        stop = min(start + size, n)
        first, last = m - n + start, m - n + stop
        low = max(0, first - window + 1)
        rows = torch.arange(first, last, device=q.device).unsqueeze(1)
        cols = torch.arange(low, last, device=q.device).unsqueeze(0)
        band = (cols <= rows) & (cols > rows - window)
        s = torch.einsum("bhid,bhjd->bhij", q[:, :, start:stop], k[:, :, low:last]) / math.sqrt(d)
        p = torch.where(band, s, s.new_tensor(float("-inf"))).softmax(-1)
        outputs.append(torch.einsum("bhij,bhje->bhie", p, v[:, :, low:last]))
    return torch.cat(outputs, dim=2)
