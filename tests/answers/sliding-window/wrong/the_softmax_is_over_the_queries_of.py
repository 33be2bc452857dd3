# family: core
# mistake: none
# The softmax is over the queries of a block, not over the keys.
import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.shape[2], k.shape[2]
    span = min(window, m)
    out = torch.empty(*q.shape[:3], v.shape[3], dtype=q.dtype, device=q.device)
    result = []
    for i0 in range(0, n, span):
        i1 = min(i0 + span, n)
        p0, p1 = i0 + m - n, i1 + m - n
        k0 = max(p0 - span + 1, 0)
        logits = torch.einsum("bhid,bhjd->bhij", q[:, :, i0:i1], k[:, :, k0:p1]) * q.shape[3] ** -0.5
        i = torch.arange(p0, p1, device=q.device).view(-1, 1)
        j = torch.arange(k0, p1, device=q.device).view(1, -1)
        logits = logits.masked_fill((j > i) | (j <= i - window), float("-inf"))
        weights = torch.softmax(logits, dim=2)  # wrong
        result.append(torch.einsum("bhij,bhjv->bhiv", weights, v[:, :, k0:p1]))
    return torch.cat(result, dim=2).to(out.dtype)
