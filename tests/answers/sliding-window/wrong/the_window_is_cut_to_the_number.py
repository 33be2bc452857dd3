# family: core
# mistake: none
# The window is cut to the number of queries instead of the number of keys.
import torch
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    n, m = q.shape[2], k.shape[2]
    window = min(window, n)  # wrong
    scale = q.shape[-1] ** -0.5
    rows = []
    for i in range(n):
        p = m - n + i  # position of this query
        lo = max(0, p - window + 1)
        keys, values = k[:, :, lo : p + 1], v[:, :, lo : p + 1]
        scores = q[:, :, i : i + 1] @ keys.transpose(-2, -1) * scale
        rows.append(scores.softmax(dim=-1) @ values)
    return torch.cat(rows, dim=2)
