# family: cost
# mistake: whole-score-matrix
import math

import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.size(2), k.size(2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if causal:
        scores = scores.masked_fill(torch.ones(n, m, device=q.device).triu(m - n + 1).bool(), float("-inf"))
    mx = q.new_full((*q.shape[:3], 1), float("-inf"))
    l, o = torch.zeros_like(mx), 0
    for s, vj in zip(scores.split(block_size, -1), v.split(block_size, 2)):
        new = torch.maximum(mx, s.amax(-1, keepdim=True))
        p, c = (s - new).exp(), (mx - new).exp()
        l, o, mx = l * c + p.sum(-1, keepdim=True), o * c + p @ vj, new
    return o / l
