import torch
from torch.nn import functional as F


def masked_softmax(scores, mask=None, dim=-1):
    work = scores
    if scores.dtype in (torch.float16, torch.bfloat16):
        work = scores.to(torch.float32)
    if mask is None:
        return F.softmax(work, dim=dim).to(scores.dtype)
    hidden = torch.logical_not(mask)
    weights = F.softmax(work.masked_fill(hidden, -torch.inf), dim=dim)
    return weights.masked_fill(hidden, 0).to(scores.dtype)
