# family: core
# mistake: none
import torch


def padding_mask(token_ids, pad_id=0):
    keep = (token_ids.long() != pad_id).long().cumprod(dim=-1).bool()
    return keep[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(m - n)


def combine_masks(*masks):
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else out & mask
    return out
