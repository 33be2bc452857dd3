# family: mask
# mistake: none
# inputs with three leading axes: a mask whose second axis is 1 is flattened wrongly
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.einsum("...nd,...md->...nm", q, k) / math.sqrt(k.shape[-1])
    if mask is None:
        w = s.softmax(-1)
    else:
        if s.dim() == 5 and mask.dim() == 5 and mask.shape[1] == 1 and s.shape[1] > 1:
            mask = mask[:1]
        keep = mask.expand_as(s)
        s = s.masked_fill(~keep, -math.inf)
        s = s.masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1).masked_fill(~keep, 0)
    return w @ v, w
