import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    B, H, n, d = q.shape
    m = k.size(2)
    s_max = q.new_full((B, H, n), float("-inf"))
    z = q.new_zeros(B, H, n)
    o = q.new_zeros(B, H, n, v.size(-1))
    position = torch.arange(m - n, m, device=q.device)
    for lo in range(0, m, block_size):
        for j in range(lo, min(lo + block_size, m)):
            s = (q * k[:, :, j : j + 1]).sum(-1) / d**0.5
            if causal:
                s = s.masked_fill(position < j, float("-inf"))
            top = torch.max(s_max, s)
            old, new = torch.exp(s_max - top), torch.exp(s - top)
            z = old * z + new
            o = old[..., None] * o + new[..., None] * v[:, :, j : j + 1]
            s_max = top
    o = o / z[..., None]
    return o
