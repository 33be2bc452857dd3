# kata: masked-softmax
# names:
import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    top = scores.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)  # wrong
    e = (scores - top).exp()
    return e / e.sum(dim=dim, keepdim=True).clamp(min=1e-30)
