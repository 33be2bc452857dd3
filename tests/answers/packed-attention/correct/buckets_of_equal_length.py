from collections import defaultdict

import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    """All sequences of one length are a batch; what comes out is put back by its rows."""
    starts = defaultdict(list)
    for start, end in zip(cu_seqlens, cu_seqlens[1:]):
        if end > start:
            starts[end - start].append(start)
    order, parts = [], []
    for length, begin in starts.items():
        rows = torch.tensor(begin, device=q.device)[:, None] + torch.arange(length, device=q.device)
        a, b, c = (x[rows].transpose(1, 2) for x in (q, k, v))
        scores = a @ b.transpose(-1, -2) / q.size(-1) ** 0.5
        if causal:
            keep = torch.ones(length, length, device=q.device).tril().bool()
            scores = scores.masked_fill(~keep, float("-inf"))
        parts.append((scores.softmax(-1) @ c).transpose(1, 2).flatten(0, 1))
        order.append(rows.flatten())
    return torch.cat(parts)[torch.argsort(torch.cat(order))]
