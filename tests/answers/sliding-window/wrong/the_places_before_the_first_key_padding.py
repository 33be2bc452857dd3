# family: core
# mistake: places-before-the-start-count
# The places before the first key (padding of zeros) are not masked and take their share.
import torch
import torch.nn.functional as F
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    B, H, n, d = q.shape
    m = k.shape[2]
    w = min(window, m)
    first = m - n
    # row j of the padded keys is position j - (w - 1)
    k_pad = F.pad(k, (0, 0, w - 1, 0))
    v_pad = F.pad(v, (0, 0, w - 1, 0))
    scores = []
    for j in range(w):
        scores.append((q * k_pad[:, :, first + j : first + j + n]).sum(-1))
    s = torch.stack(scores, dim=-1) * d**-0.5  # wrong
    p = s.softmax(dim=-1)
    out = 0
    for j in range(w):
        out = out + p[..., j, None] * v_pad[:, :, first + j : first + j + n]
    return out
