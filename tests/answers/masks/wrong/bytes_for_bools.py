# family: core
# mistake: causal-as-integers
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.uint8, device=device).tril(m - n)


def combine_masks(*masks):
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else out & mask
    return out
