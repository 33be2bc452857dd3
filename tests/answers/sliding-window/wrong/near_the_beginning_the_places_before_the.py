# family: core
# mistake: none
# Near the beginning the places before the first key, filled with zeros, are not hidden and share the weight.
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    n, m = q.size(2), k.size(2)
    window = min(window, m)
    # zeros in front, so that every query has a full window
    kp = F.pad(k, (0, 0, window - 1, 0))
    vp = F.pad(v, (0, 0, window - 1, 0))
    first = m - n
    q = q / q.size(-1) ** 0.5
    # place j of the window of query i is row first + i + j of the padded keys
    scores = torch.stack([(q * kp[:, :, first + j:first + j + n]).sum(-1) for j in range(window)], dim=-1)
    weights = torch.softmax(scores, dim=-1)  # wrong
    out = 0
    for j in range(window):
        out = out + weights[..., j:j + 1] * vp[:, :, first + j:first + j + n]
    return out
