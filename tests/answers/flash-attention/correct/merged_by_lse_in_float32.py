import torch
from typing import NamedTuple


class Partial(NamedTuple):
    out: torch.Tensor
    lse: torch.Tensor


def one_block(q, k, v, hidden):
    s = q @ k.transpose(-2, -1)
    if hidden is not None:
        s = s.masked_fill(hidden, float("-inf"))
    top = s.amax(-1, keepdim=True).detach().clamp(min=torch.finfo(s.dtype).min)
    e = torch.exp(s - top)
    z = e.sum(-1, keepdim=True)
    seen = z > 0
    safe = torch.where(seen, z, torch.ones_like(z))
    return Partial(e @ v / safe, torch.where(seen, safe.log() + top, torch.full_like(z, float("-inf"))))


def merge(a, b):
    top = torch.maximum(a.lse, b.lse).detach()
    wa, wb = (a.lse - top).exp(), (b.lse - top).exp()
    return Partial((a.out * wa + b.out * wb) / (wa + wb), top + (wa + wb).log())


def flash_attention(q, k, v, block_size=64, causal=False):
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v = q.to(wide) / q.shape[-1] ** 0.5, k.to(wide), v.to(wide)
    n, m = q.shape[-2], k.shape[-2]
    result = None
    for start in range(0, m, block_size):
        kb, vb = k[..., start : start + block_size, :], v[..., start : start + block_size, :]
        hidden = None
        if causal:
            behind = torch.arange(m - n, m, device=q.device)[:, None] - torch.arange(
                start, start + kb.shape[-2], device=q.device
            )
            hidden = behind < 0
        part = one_block(q, kb, vb, hidden)
        result = part if result is None else merge(result, part)
    return result.out.to(dtype)
