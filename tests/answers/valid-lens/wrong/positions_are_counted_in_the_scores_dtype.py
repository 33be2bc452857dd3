# family: dtype
# mistake: positions-in-half-precision
# Positions are counted in the scores' dtype, which is inexact for thousands of keys in half precision.
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    B, n, m = scores.shape
    lens = valid_lens.reshape(B, -1, 1)          # (B, 1, 1) or (B, n, 1)
    keys = torch.arange(m, device=scores.device, dtype=scores.dtype)  # wrong
    hidden = keys.view(1, 1, m) >= lens
    out = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return torch.where(hidden, torch.zeros_like(out), out)
