import math

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    lead = q.shape[:-2]
    n, m = q.size(-2), k.size(-2)
    q3 = q.reshape(-1, n, q.size(-1))
    k3 = k.reshape(-1, m, k.size(-1))
    v3 = v.reshape(-1, m, v.size(-1))
    scores = torch.bmm(q3, k3.mT).div_(math.sqrt(k.size(-1)))
    if mask is None:
        weights = F.softmax(scores, dim=2)
    else:
        keep = mask.expand(*lead, n, m).reshape(-1, n, m)
        weights = F.softmax(scores.masked_fill(~keep, -math.inf), dim=2).nan_to_num(0.0)
    output = torch.bmm(weights, v3)
    return output.view(*lead, n, v.size(-1)), weights.view(*lead, n, m)
