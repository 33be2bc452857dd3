# family: core
# mistake: none
import torch


def masked_softmax(scores, mask=None, dim=-1):
    e = torch.exp(scores)
    if mask is not None:
        e = e * mask
    return e / (e.sum(dim=dim, keepdim=True) + 1e-12)
