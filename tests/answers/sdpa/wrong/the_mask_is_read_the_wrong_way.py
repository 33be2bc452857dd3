# family: core
# mistake: mask-inverted
# The mask is read the wrong way round in the fill, True is hidden there.
import math
import torch
import torch.nn.functional as F


def attention_scores(q, k):
    return q @ k.mT / math.sqrt(q.size(-1))


def masked(scores, mask):
    if mask is None:
        return F.softmax(scores, dim=-1)
    mask = mask.expand_as(scores)
    scores = scores.masked_fill(mask, -torch.inf)  # wrong
    p = F.softmax(scores, dim=-1)
    return torch.where(p.isnan(), torch.zeros_like(p), p)


def scaled_dot_product_attention(q, k, v, mask=None):
    p_attn = masked(attention_scores(q, k), mask)
    return p_attn @ v, p_attn
