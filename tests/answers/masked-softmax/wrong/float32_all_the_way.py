# family: dtype
# mistake: float32-detour
import torch


def masked_softmax(scores, mask=None, dim=-1):
    """Everything in float32 for safety, then back."""
    x = scores.float()
    if mask is not None:
        x = torch.where(mask, x, torch.finfo(torch.float32).min)
    w = torch.softmax(x, dim)
    if mask is not None:
        w = w * mask
    return w.type_as(scores)
