import torch


def sliding_window_attention(q, k, v, window):
    n, m, d_k = q.size(-2), k.size(-2), q.size(-1)
    out = q.new_empty(*q.shape[:-1], v.size(-1))
    for i in range(n):
        p = m - n + i
        lo = max(p - window + 1, 0)
        scores = (k[..., lo : p + 1, :] * q[..., i : i + 1, :]).sum(-1) * d_k**-0.5
        weights = scores.softmax(-1)
        out[..., i, :] = (weights.unsqueeze(-1) * v[..., lo : p + 1, :]).sum(-2)
    return out
