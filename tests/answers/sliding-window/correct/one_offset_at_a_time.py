import math

import torch


def shifted(x, n, offset):
    """Row i is the row `offset` before query i, zeros where there is none."""
    m = x.size(2)
    rows = x.new_zeros(x.size(0), x.size(1), n, x.size(3))
    first = m - n - offset
    skip = max(0, -first)
    if skip < n:
        rows[:, :, skip:] = x[:, :, first + skip : first + n]
    return rows


def sliding_window_attention(q, k, v, window):
    """Online softmax over the places of the window."""
    n, m = q.size(2), k.size(2)
    scale = 1 / math.sqrt(q.size(-1))
    position = torch.arange(m - n, m, device=q.device)[None, None, :, None]
    top = ((q * shifted(k, n, 0)).sum(-1, keepdim=True)) * scale
    total = torch.ones_like(top)
    acc = shifted(v, n, 0)
    for offset in range(1, min(window, m)):
        s = (q * shifted(k, n, offset)).sum(-1, keepdim=True) * scale
        s = s.masked_fill(position < offset, float("-inf"))
        new_top = torch.maximum(top, s)
        old, new = torch.exp(top - new_top), torch.exp(s - new_top)
        total = total * old + new
        acc = acc * old + new * shifted(v, n, offset)
        top = new_top
    return acc / total
