# family: core
# mistake: past-hidden
# The causal mask is turned round, tokens see the future.
import torch
import torch.nn.functional as F


def packed_attention(q, k, v, cu_seqlens, causal=False):
    d_k = q.shape[-1]
    lengths = [b - a for a, b in zip(cu_seqlens[:-1], cu_seqlens[1:])]
    result = []
    for qi, ki, vi in zip(q.split(lengths), k.split(lengths), v.split(lengths)):
        L = qi.shape[0]
        if L == 0:
            continue
        qi, ki, vi = qi.permute(1, 0, 2), ki.permute(1, 0, 2), vi.permute(1, 0, 2)
        scores = torch.matmul(qi, ki.transpose(1, 2)) / d_k ** 0.5
        if causal:
            visible = torch.ones(L, L, device=q.device, dtype=torch.bool).triu()  # wrong
            scores = scores.masked_fill(visible.logical_not(), float("-inf"))
        weights = F.softmax(scores, dim=-1)
        result.append(torch.matmul(weights, vi).permute(1, 0, 2))
    if not result:
        return torch.zeros_like(v)
    return torch.cat(result)
