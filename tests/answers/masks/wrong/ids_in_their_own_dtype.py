# family: core
# mistake: padding-id-wraps
import torch


def padding_mask(token_ids, pad_id=0):
    hidden = token_ids == torch.full_like(token_ids, 0) + pad_id
    return hidden.logical_not().view(token_ids.size(0), 1, 1, -1)


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(m - n)


def combine_masks(*masks):
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else out & mask
    return out
