# family: dtype
# mistake: result-in-float32
import torch


def sliding_window_attention(q, k, v, window):
    B, H, n, d = q.shape
    m = k.size(2)
    out = torch.zeros(B, H, n, v.size(-1), device=q.device)
    for i in range(n):
        p = m - n + i
        lo = max(0, p - window + 1)
        s = torch.einsum("bhd,bhjd->bhj", q[:, :, i], k[:, :, lo : p + 1]) / d**0.5
        out[:, :, i] = torch.einsum("bhj,bhjd->bhd", s.softmax(-1), v[:, :, lo : p + 1])
    return out
