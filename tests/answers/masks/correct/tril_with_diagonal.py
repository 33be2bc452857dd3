import torch


def padding_mask(token_ids, pad_id=0):
    return token_ids.long().ne(pad_id).unsqueeze(1).unsqueeze(2)


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(diagonal=m - n)


def combine_masks(*masks):
    left = [mask for mask in masks if mask is not None]
    if not left:
        return None
    out = left[0]
    for mask in left[1:]:
        out = out & mask
    return out
