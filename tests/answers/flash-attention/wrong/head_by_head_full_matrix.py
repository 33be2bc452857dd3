# family: cost
# mistake: whole-score-matrix
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.size(2), k.size(2)
    out = torch.empty(*q.shape[:3], v.size(-1), dtype=q.dtype, device=q.device)
    for b in range(q.size(0)):
        for h in range(q.size(1)):
            s = q[b, h] @ k[b, h].T / q.size(-1) ** 0.5
            if causal:
                s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(m - n + 1), float("-inf"))
            out[b, h] = s.softmax(-1) @ v[b, h]
    return out
