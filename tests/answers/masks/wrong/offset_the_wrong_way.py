# family: core
# mistake: none
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    if m is None:
        m = n
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(n - m)


def combine_masks(*masks):
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else out & mask
    return out
