import torch


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    full = torch.broadcast_to(mask, scores.shape)
    work = scores.clone()
    work[~full] = torch.finfo(work.dtype).min
    out = torch.softmax(work, dim)
    out = out.clone()
    out[~full] = 0
    return out
