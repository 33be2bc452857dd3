# family: mask
# mistake: none
# the first key's hidden value leaks by 1e-30 times it (0 * huge is fine, huge * tiny is not)
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
        if s.dim() == 3:
            w = w + (~keep).to(w.dtype) * 1e-30 if w.dtype == torch.float32 else w
    return w @ v, w
