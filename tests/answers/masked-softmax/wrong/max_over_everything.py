# family: mask
# mistake: renormalised-after
import torch


def masked_softmax(scores, mask=None, dim=-1):
    """The maximum is taken before the mask: a hidden giant makes everybody else vanish."""
    shifted = scores - scores.max(dim=dim, keepdim=True).values
    e = shifted.exp()
    if mask is not None:
        e = e.masked_fill(~mask, 0)
    z = e.sum(dim=dim, keepdim=True)
    return e / z.clamp(min=torch.finfo(scores.dtype).tiny)
