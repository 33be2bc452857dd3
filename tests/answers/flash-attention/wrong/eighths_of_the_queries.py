# family: cost
# mistake: whole-score-matrix
import math

import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    """Cuts the queries into eight parts, however many there are, and gives each an ordinary softmax over all keys."""
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    n, m = q.size(-2), k.size(-2)
    columns = torch.arange(m, device=q.device)
    size = max(1, math.ceil(n / 8))
    outputs = []
    for start in range(0, n, size):
        queries = q[..., start : start + size, :]
        scores = queries @ k.mT / math.sqrt(q.size(-1))
        if causal:
            rows = torch.arange(start, start + queries.size(-2), device=q.device)[:, None] + m - n
            scores = scores.masked_fill(columns > rows, -math.inf)
        outputs.append(torch.softmax(scores, -1) @ v)
    return torch.cat(outputs, -2).to(dtype)
