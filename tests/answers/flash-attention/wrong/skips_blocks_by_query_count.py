# family: mask
# mistake: none
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.size(2), k.size(2)
    mx = q.new_full((*q.shape[:3], 1), float("-inf"))
    l, o = torch.zeros_like(mx), 0
    row = torch.arange(m - n, m, device=q.device)[:, None]
    for start in range(0, m, block_size):
        if causal and start > n:
            break
        kj, vj = k[:, :, start : start + block_size], v[:, :, start : start + block_size]
        s = q @ kj.mT / q.size(-1) ** 0.5
        if causal:
            s = s.masked_fill(torch.arange(start, start + kj.size(2), device=q.device) > row, float("-inf"))
        new = torch.maximum(mx, s.amax(-1, keepdim=True))
        p, c = (s - new).exp(), (mx - new).exp()
        l, o, mx = l * c + p.sum(-1, keepdim=True), o * c + p @ vj, new
    return o / l
