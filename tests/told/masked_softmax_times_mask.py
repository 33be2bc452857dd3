# kata: masked-softmax
# names: mask-after-softmax
import torch
import torch.nn.functional as F


def masked_softmax(scores, mask=None, dim=-1):
    probs = F.softmax(scores, dim=dim)  # wrong
    if mask is not None:
        probs = probs * mask
    return probs
