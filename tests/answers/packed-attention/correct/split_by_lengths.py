import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    lengths = [b - a for a, b in zip(cu_seqlens[:-1], cu_seqlens[1:])]
    out = []
    for qi, ki, vi in zip(q.split(lengths), k.split(lengths), v.split(lengths)):
        s = torch.einsum("ihd,jhd->hij", qi, ki) / qi.shape[-1] ** 0.5
        if causal:
            n = s.size(-1)
            s = s + torch.full((n, n), float("-inf"), dtype=s.dtype, device=s.device).triu(1)
        out.append(torch.einsum("hij,jhd->ihd", s.softmax(-1), vi))
    return torch.cat(out, dim=0)
