import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return scores.softmax(dim)
    visible = mask.expand(torch.broadcast_shapes(scores.shape, mask.shape))
    highest = scores.masked_fill(~visible, -torch.inf).amax(dim, keepdim=True)
    shifted = scores - highest.masked_fill(highest == -torch.inf, 0.0).detach()
    e = shifted.masked_fill(~visible, -torch.inf).exp()
    total = e.sum(dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)
