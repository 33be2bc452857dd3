import torch
from torch import einsum


def scaled_dot_product_attention(q, k, v, mask=None):
    d = q.shape[-1]
    logits = einsum("...id,...jd->...ij", q, k) * d**-0.5
    if mask is not None:
        logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
    attn = logits.softmax(-1)
    if mask is not None:
        attn = torch.where(mask, attn, 0.0)
    return einsum("...ij,...jd->...id", attn, v), attn
