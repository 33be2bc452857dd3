# kata: masked-softmax
# names: renormalised-after
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    e = torch.exp(scores - scores.max(dim=dim, keepdim=True).values)  # wrong
    e = e * mask
    return e / (e.sum(dim=dim, keepdim=True) + 1e-13)
