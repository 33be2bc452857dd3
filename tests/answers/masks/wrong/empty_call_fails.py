# family: core
# mistake: none
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(m - n)


def combine_masks(*masks):
    masks = [m for m in masks if m is not None]
    out = masks[0]
    for mask in masks[1:]:
        out = torch.logical_and(out, mask)
    return out
