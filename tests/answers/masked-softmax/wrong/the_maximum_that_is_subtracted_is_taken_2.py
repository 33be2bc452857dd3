# family: mask
# mistake: renormalised-after
# The maximum that is subtracted is taken over the hidden scores too, so a large hidden score drowns the visible.
import torch


def masked_softmax(scores, mask=None, dim=-1):
    # softmax by hand: exp(s - max) / sum
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    top = scores.detach().amax(dim=dim, keepdim=True)  # wrong
    shifted = (scores - top).masked_fill(~mask, float("-inf"))
    e = torch.exp(shifted)
    total = e.sum(dim=dim, keepdim=True)
    # nothing visible: 0 / 1
    total = total.masked_fill(total == 0, 1.0)
    return e / total
