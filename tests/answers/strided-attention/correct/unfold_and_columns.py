import torch
import torch.nn.functional as F
from torch import einsum


def strided_mask(n, stride, device=None):
    ones = torch.ones(n, n, dtype=torch.bool, device=device)
    local = ones.tril() & ones.triu(1 - stride)
    idx = torch.arange(n, device=device) % stride
    same = idx[:, None] == idx
    return local | (same & ones.tril())


def strided_attention(q, k, v, stride):
    n, d = q.shape[-2:]
    w = min(stride, n)
    q = q / d**0.5
    kw = F.pad(k, (0, 0, w - 1, 0)).unfold(2, w, 1)
    vw = F.pad(v, (0, 0, w - 1, 0)).unfold(2, w, 1)
    near = einsum("bhnd,bhndw->bhnw", q, kw)
    pos = torch.arange(n, device=q.device)
    missing = pos[:, None] + torch.arange(1 - w, 1, device=q.device) < 0
    near = near.masked_fill(missing, float("-inf"))
    width = (n + w - 1) // w
    far = torch.full((*q.shape[:3], width), float("-inf"), dtype=q.dtype, device=q.device)
    for c in range(w):
        a = q[:, :, c::w] @ k[:, :, c::w].mT
        rows = a.size(-1)
        above = torch.ones(rows, rows, dtype=torch.bool, device=q.device).tril(-1)
        far[:, :, c::w, :rows] = torch.where(above, a, a.new_full((), float("-inf")))
    p = torch.cat([near, far], dim=-1).softmax(-1)
    out = einsum("bhnw,bhndw->bhnd", p[..., :w], vw).clone()
    for c in range(w):
        cols = v[:, :, c::w]
        out[:, :, c::w] += p[:, :, c::w, w : w + cols.size(2)] @ cols
    return out
