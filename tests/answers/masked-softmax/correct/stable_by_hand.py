import torch


def masked_softmax(scores, mask=None, dim=-1):
    """exp(s - max) over the visible entries, normalised, without torch.softmax."""
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    visible = mask.expand(scores.shape) if mask.shape != scores.shape else mask
    lowest = torch.finfo(scores.dtype).min
    candidates = torch.where(visible, scores, torch.full_like(scores, lowest))
    top = candidates.amax(dim=dim, keepdim=True).detach()
    shifted = torch.where(visible, scores - top, torch.zeros_like(scores))
    e = torch.where(visible, shifted.exp(), torch.zeros_like(scores))
    total = e.sum(dim=dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)
