# family: core
# mistake: float32-detour
# Everything is computed in float32, also float64, which loses its precision.
import torch


def masked_softmax(scores, mask=None, dim=-1):
    dtype = scores.dtype
    s = scores.to(torch.float32)  # wrong
    if mask is None:
        return s.softmax(dim).to(dtype)
    blocked = ~mask
    s = s.masked_fill(blocked, float("-inf"))
    any_visible = mask.expand(s.shape).any(dim=dim, keepdim=True)
    # a row with nothing to see gets harmless scores, and zeros afterwards
    s = s.masked_fill(~any_visible, 0.0)
    w = s.softmax(dim).masked_fill(blocked, 0.0)
    return w.to(dtype)
