import math

import torch
import torch.nn.functional as F


def strided_mask(n, stride, device=None):
    d = torch.arange(n, device=device)[:, None] - torch.arange(n, device=device)[None, :]
    return (d >= 0).logical_and((d < stride).logical_or(torch.fmod(d, stride) == 0))


def part(q, k, v, hidden):
    """Maximum, sum and weighted values of one part; a row of nothing has maximum -inf and sum 0."""
    s = (q @ k.transpose(-1, -2)) / math.sqrt(q.size(-1))
    s = s.masked_fill(hidden, -math.inf)
    top = s.amax(-1, keepdim=True)
    e = torch.exp(s - torch.where(top == -math.inf, torch.zeros_like(top), top))
    return top, e.sum(-1, keepdim=True), e @ v


def strided_attention(q, k, v, stride):
    dtype = q.dtype
    if dtype.itemsize == 2:
        q, k, v = q.float(), k.float(), v.float()
    b, h, n, d = q.shape
    l = min(stride, n)
    rest = -n % l
    rows = (n + rest) // l
    q, k, v = (F.pad(t, (0, 0, 0, rest)).view(b, h, rows, l, t.size(-1)) for t in (q, k, v))
    t = torch.arange(l, device=q.device)
    inside = part(q, k, v, t > t[:, None])
    before_k, before_v = (torch.cat([torch.zeros_like(x[:, :, :1]), x[:, :, :-1]], 2) for x in (k, v))
    first = torch.arange(rows, device=q.device).view(-1, 1, 1) == 0
    outside = part(q, before_k, before_v, (t <= t[:, None]) | first)
    r = torch.arange(rows, device=q.device)
    qc, kc, vc = (x.transpose(2, 3) for x in (q, k, v))
    column = [x.transpose(2, 3) for x in part(qc, kc, vc, r >= r[:, None])]
    tops = torch.cat([inside[0], outside[0], column[0]], -1)
    shift = torch.exp(tops - tops.amax(-1, keepdim=True)).split(1, dim=-1)
    total = sum(s * p[1] for s, p in zip(shift, (inside, outside, column)))
    values = sum(s * p[2] for s, p in zip(shift, (inside, outside, column)))
    return (values / total).flatten(2, 3)[:, :, :n].to(dtype)
