# family: core
# mistake: output-not-corrected
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.size(2), k.size(2)
    row = torch.arange(m - n, m, device=q.device)[:, None]
    mx = q.new_full((*q.shape[:3], 1), float("-inf"))
    l, o = torch.zeros_like(mx), 0
    for start in range(0, m, block_size):
        kj, vj = k[:, :, start : start + block_size], v[:, :, start : start + block_size]
        s = q @ kj.mT / q.size(-1) ** 0.5
        if causal:
            s = s.masked_fill(torch.arange(start, start + kj.size(2), device=q.device) > row, float("-inf"))
        new = torch.maximum(mx, s.amax(-1, keepdim=True))
        p = (s - new).exp()
        l = l * (mx - new).exp() + p.sum(-1, keepdim=True)
        o = o + p @ vj
        mx = new
    return o / l
