# family: mask
# mistake: fill-zero
import torch.nn.functional as F


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return F.softmax(scores, dim=dim)
    scores = scores * mask
    return F.softmax(scores, dim=dim) * mask
