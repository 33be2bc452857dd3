import torch
import torch.nn.functional as F


def build_bias(mask, like):
    """0 where visible, the most negative finite number where hidden."""
    bias = torch.zeros(mask.shape, dtype=like.dtype, device=like.device)
    return bias.masked_fill_(mask.logical_not(), torch.finfo(like.dtype).min)


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return F.softmax(scores, dim)
    p = F.softmax(scores + build_bias(mask, scores), dim)
    return p * mask
