# family: mask
# mistake: renormalised-after
# The shift is the maximum of all scores, hidden ones too; a large hidden score lets the visible ones underflow.
import torch


def _broadcast(mask, scores):
    if mask is None:
        return torch.ones_like(scores, dtype=torch.bool)
    return mask.expand(scores.shape)


def masked_softmax(scores, mask=None, dim=-1):
    visible = _broadcast(mask, scores)
    neg_inf = torch.full_like(scores, float("-inf"))
    only_visible = torch.where(visible, scores, neg_inf)
    largest = scores.detach().max(dim=dim, keepdim=True).values  # wrong
    exps = torch.exp(only_visible - largest)
    denom = exps.sum(dim=dim, keepdim=True)
    denom = denom.masked_fill(denom == 0, 1.0)
    return exps / denom
