# family: core
# mistake: causal-m-ignored
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    return torch.tril(torch.ones(n, n, device=device)).bool()


def combine_masks(*masks):
    out = None
    for mask in masks:
        if mask is not None:
            out = mask if out is None else out & mask
    return out
