# family: core
# mistake: none
import math

import torch


def strided_mask(n, stride, device=None):
    i = torch.arange(n, device=device)
    distance = i[:, None] - i
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0))


def strided_attention(q, k, v, stride):
    """Blocks of 64 queries; near keys in one slice, far keys one diagonal at a time."""
    B, H, n, d = q.shape
    q = q / math.sqrt(d)
    pieces = []
    for a in range(0, n, 64):
        b = min(a + 64, n)
        first = max(0, a - stride + 2)
        rows = torch.arange(a, b, device=q.device)[:, None]
        near = torch.arange(first, b, device=q.device)
        distance = rows - near
        keep = (distance >= 0) & (distance < stride)
        s = [(q[:, :, a:b] @ k[:, :, first:b].mT).masked_fill(~keep, float("-inf"))]
        values = [(None, first)]
        offsets = list(range(stride, b, stride))
        for o in offsets:
            lo = max(a, o)
            column = (q[:, :, lo:b] * k[:, :, lo - o : b - o]).sum(-1)
            s.append(torch.nn.functional.pad(column, (lo - a, 0), value=float("-inf"))[..., None])
        w = torch.cat(s, -1).softmax(-1)
        out = w[..., : b - first] @ v[:, :, first:b]
        for p, o in enumerate(offsets):
            lo = max(a, o)
            out = out + torch.nn.functional.pad(w[:, :, lo - a :, b - first + p, None] * v[:, :, lo - o : b - o], (0, 0, lo - a, 0))
        pieces.append(out)
    return torch.cat(pieces, 2)
