# family: core
# mistake: blocks-instead-of-windows
import torch


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    outs = []
    for i in range(m - n, m):
        lo = i // window * window
        s = q[:, :, i - m + n, None] @ k[:, :, lo : i + 1].mT / q.size(-1) ** 0.5
        outs.append(s.softmax(-1) @ v[:, :, lo : i + 1])
    return torch.cat(outs, dim=2)
