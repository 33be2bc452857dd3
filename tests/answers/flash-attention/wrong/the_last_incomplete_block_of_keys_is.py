# family: core
# mistake: rest-dropped
# The last, incomplete block of keys is left out.
import torch
from torch import Tensor


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    B, H, n, d_k = q.shape
    m, d_v = v.shape[-2:]
    qs = q.to(wide) * d_k ** -0.5
    out = torch.zeros(B, H, n, d_v, dtype=wide, device=q.device)
    total = torch.zeros(B, H, n, 1, dtype=wide, device=q.device)
    largest = torch.full((B, H, n, 1), -torch.inf, dtype=wide, device=q.device)
    rows = torch.arange(n, device=q.device).unsqueeze(1) + (m - n)

    for b in range(m // block_size):  # wrong
        lo = b * block_size
        hi = min(lo + block_size, m)
        scores = torch.einsum("bhnd,bhmd->bhnm", qs, k[:, :, lo:hi].to(wide))
        if causal:
            cols = torch.arange(lo, hi, device=q.device)
            scores = torch.where(cols <= rows, scores, -torch.inf)
        peak = torch.max(largest, scores.max(dim=-1, keepdim=True).values).detach()
        w = (scores - peak).exp()
        shrink = (largest - peak).exp()
        total = total * shrink + w.sum(dim=-1, keepdim=True)
        out = out * shrink + torch.einsum("bhnm,bhmv->bhnv", w, v[:, :, lo:hi].to(wide))
        largest = peak
    return (out / total).to(q.dtype)
