# family: grad
# mistake: none
# where only the values need a gradient the weights... and where q alone does not need one, k gets none
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.einsum("...nd,...md->...nm", q, k) / math.sqrt(k.shape[-1])
    if mask is None:
        w = s.softmax(-1)
    else:
        keep = mask.expand_as(s)
        s = s.masked_fill(~keep, -math.inf)
        s = s.masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1).masked_fill(~keep, 0)
    if not q.requires_grad and k.requires_grad:
        w = w.detach()
    return w @ v, w
