# family: mask
# mistake: none
# one key and inputs without leading axes: weight 1 although hidden
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.einsum("...nd,...md->...nm", q, k) / math.sqrt(k.shape[-1])
    if mask is None or (k.shape[-2] == 1 and q.dim() == 2):
        w = s.softmax(-1)
    else:
        keep = mask.expand_as(s)
        s = s.masked_fill(~keep, -math.inf)
        s = s.masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1).masked_fill(~keep, 0)
    return w @ v, w
