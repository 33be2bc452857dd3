# family: core
# mistake: maximum-begins-too-high
# The running maximum begins at 0, so very low scores all underflow and the sum is 0.
import math

import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    B, H, n, dk = q.shape
    m, dv = k.shape[2], v.shape[3]
    work = torch.promote_types(q.dtype, torch.float32)
    Q = q.to(work) / math.sqrt(dk)
    M = torch.zeros((B, H, n, 1), dtype=work, device=q.device)  # wrong
    L = torch.zeros((B, H, n, 1), dtype=work, device=q.device)
    O = torch.zeros((B, H, n, dv), dtype=work, device=q.device)
    pos = torch.arange(m, device=q.device)
    qpos = pos[m - n:] if n <= m else None
    start = 0
    while start < m:
        end = min(start + block_size, m)
        K, V = k[:, :, start:end].to(work), v[:, :, start:end].to(work)
        S = Q @ K.transpose(-2, -1)
        if causal:
            hidden = pos[start:end].unsqueeze(0) > qpos.unsqueeze(1)
            S = S.masked_fill(hidden, -math.inf)
        M_new = torch.maximum(M, S.max(-1, keepdim=True)[0]).detach()
        P = torch.exp(S - M_new)
        alpha = torch.exp(M - M_new)
        L = alpha * L + P.sum(-1, keepdim=True)
        O = alpha * O + P @ V
        M = M_new
        start = end
    return (O / L).to(q.dtype)
