import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    scale = q.shape[-1] ** -0.5
    m = k.shape[2]
    pos = torch.arange(m, device=q.device)
    acc, norm, peak = 0.0, 0.0, None
    for kj, vj, pj in zip(k.split(block_size, 2), v.split(block_size, 2), pos.split(block_size)):
        s = torch.matmul(q, kj.transpose(2, 3)).mul(scale)
        if causal:
            future = pj.unsqueeze(0) > pos[m - q.shape[2] :].unsqueeze(1)
            s = s.masked_fill(future, float("-inf"))
        with torch.no_grad():
            top = s.amax(dim=-1, keepdim=True)
            new = top if peak is None else torch.maximum(peak, top)
            fix = 1.0 if peak is None else (peak - new).exp()
        p = (s - new).exp()
        norm = norm * fix + p.sum(dim=-1, keepdim=True)
        acc = acc * fix + p.matmul(vj)
        peak = new
    return acc.div(norm)
