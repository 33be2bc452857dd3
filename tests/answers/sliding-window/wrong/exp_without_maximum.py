# family: core
# mistake: exp-without-maximum
import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    out = []
    for i in range(m - n, m):
        lo = max(0, i - window + 1)
        s = torch.exp(q[:, :, i - m + n, None] @ k[:, :, lo : i + 1].mT / q.size(-1) ** 0.5)
        out.append(s / s.sum(-1, keepdim=True) @ v[:, :, lo : i + 1])
    return torch.cat(out, dim=2)
