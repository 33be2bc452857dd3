# family: cost
# mistake: mask-of-blocks
import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    n = q.size(0)
    ids = torch.zeros(n, dtype=torch.long, device=q.device)
    for start in cu_seqlens[1:-1]:
        ids[start:] += 1
    keep = ids[:, None] == ids[None, :]
    if causal:
        keep = keep.tril()
    s = torch.einsum("ihd,jhd->hij", q, k) / q.size(-1) ** 0.5
    s = s.masked_fill(~keep, float("-inf"))
    return torch.einsum("hij,jhd->ihd", s.softmax(-1), v)
