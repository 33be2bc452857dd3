# family: core
# mistake: rest-dropped
# The last block is left out where block_size does not divide m (unless it is the only one).
import math

import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    dtype = q.dtype
    if dtype in (torch.half, torch.bfloat16): q, k, v = q.float(), k.float(), v.float()
    (n, d), m = q.shape[-2:], k.shape[-2]
    i = torch.arange(m - n, m, device=q.device)[:, None]
    M, L, O = -math.inf, 0, 0
    for b in range(max(1, m // block_size)):  # wrong
        s = slice(b * block_size, (b + 1) * block_size)
        S = q @ k[:, :, s].mT / math.sqrt(d)
        if causal: S = S.masked_fill(torch.arange(m, device=q.device)[s] > i, -math.inf)
        N = S.detach().amax(-1, keepdim=True).clamp(min=M) if b == 0 else torch.maximum(M, S.detach().amax(-1, keepdim=True))
        P, c = (S - N).exp(), (M - N).exp()
        L, O, M = L * c + P.sum(-1, keepdim=True), O * c + P @ v[:, :, s], N
    return (O / L).to(dtype)
