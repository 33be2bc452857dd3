# family: core
# mistake: none
# The scale is taken from the number of heads, not from d_k.
import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    T, H = q.shape[:2]
    scale = q.size(1) ** -0.5  # wrong
    q, k, v = (t.transpose(0, 1) for t in (q, k, v))
    outs = [v.new_zeros(H, 0, v.shape[-1])]
    for start, stop in zip(cu_seqlens, cu_seqlens[1:]):
        n = stop - start
        if n == 0:
            continue
        a = torch.bmm(q[:, start:stop] * scale, k[:, start:stop].transpose(1, 2))
        if causal:
            i = torch.arange(n, device=q.device)
            a = a.masked_fill(i[None, :] > i[:, None], float("-inf"))
        outs.append(torch.bmm(torch.softmax(a, -1), v[:, start:stop]))
    return torch.cat(outs, dim=1).transpose(0, 1)
