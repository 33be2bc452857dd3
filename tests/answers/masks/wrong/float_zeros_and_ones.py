# family: core
# mistake: causal-as-floats
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    if m is None:
        m = n
    return torch.tril(torch.ones(n, m, device=device), diagonal=m - n)


def combine_masks(*masks):
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else out & mask
    return out
