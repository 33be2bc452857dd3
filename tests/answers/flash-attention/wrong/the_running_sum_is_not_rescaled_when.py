# family: core
# mistake: sum-not-corrected
# The running sum is not rescaled when the maximum grows (only the output is).
import math
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    dtype = q.dtype
    acc = torch.promote_types(dtype, torch.float32)
    q, k, v = q.to(acc), k.to(acc), v.to(acc)
    n, m, dk = q.shape[-2], k.shape[-2], q.shape[-1]
    o = q.new_zeros(*q.shape[:-1], v.shape[-1])
    l = q.new_zeros(*q.shape[:-1], 1)
    mx = q.new_full((*q.shape[:-1], 1), float("-inf"))
    qpos = torch.arange(m - n, m, device=q.device)
    for j in range(0, m, block_size):
        kb, vb = k[:, :, j:j + block_size], v[:, :, j:j + block_size]
        s = q @ kb.transpose(-1, -2) / math.sqrt(dk)
        if causal:
            kpos = torch.arange(j, j + kb.shape[2], device=q.device)
            s = s.masked_fill(kpos[None, :] > qpos[:, None], float("-inf"))
        new = torch.maximum(mx, s.amax(-1, keepdim=True)).detach()
        corr = torch.exp(mx - new)
        p = torch.exp(s - new)
        l = l + p.sum(-1, keepdim=True)  # wrong
        o = o * corr + p @ vb
        mx = new
    return (o / l).to(dtype)
