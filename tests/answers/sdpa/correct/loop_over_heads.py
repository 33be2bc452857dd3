import torch


def one_head(q, k, v, mask):
    scores = (q @ k.t()) / (k.shape[1] ** 0.5)
    if mask is None:
        weights = scores.softmax(dim=1)
    else:
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=1).masked_fill(~mask, 0.0)
    return weights @ v, weights


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.dim() == 2:
        return one_head(q, k, v, mask)
    lead = q.shape[:-2]
    if mask is not None:
        mask = mask.expand(*lead, q.size(-2), k.size(-2)).flatten(0, -3)
    out = q.new_empty(*lead, q.size(-2), v.size(-1)).flatten(0, -3)
    att = q.new_empty(*lead, q.size(-2), k.size(-2)).flatten(0, -3)
    flat = zip(q.flatten(0, -3), k.flatten(0, -3), v.flatten(0, -3))
    for i, (qi, ki, vi) in enumerate(flat):
        out[i], att[i] = one_head(qi, ki, vi, None if mask is None else mask[i])
    return out.unflatten(0, lead), att.unflatten(0, lead)
