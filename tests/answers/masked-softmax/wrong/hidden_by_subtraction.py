# family: mask
# mistake: renormalised-after
import torch


def masked_softmax(scores, mask=None, dim=-1):
    """Push hidden scores down by a million, clean up afterwards."""
    if mask is None:
        return torch.softmax(scores, dim=dim)
    scores = scores - 50.0 * (~mask).to(scores.dtype)
    weights = torch.softmax(scores, dim=dim)
    return weights * mask
