# family: core
# mistake: none
# The sum of the exponentials goes over the last axis, not over dim.
import torch


def masked_softmax(scores, mask=None, dim=-1):
    """Softmax by hand: shift by the largest visible score, exponentiate, normalise."""
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    top = scores.detach().amax(dim=dim, keepdim=True)
    # rows without any visible key have a maximum of -inf
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp(scores - top)
    total = e.sum(dim=-1, keepdim=True)  # wrong
    total = torch.where(total == 0, torch.ones_like(total), total)
    return e / total
