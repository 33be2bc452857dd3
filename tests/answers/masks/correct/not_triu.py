from functools import reduce

import torch


def padding_mask(token_ids, pad_id=0):
    B, S = token_ids.shape
    return (
        ~(token_ids.long() == pad_id).view(B, 1, 1, S)
        if token_ids.is_contiguous()
        else ~(token_ids.long() == pad_id).reshape(B, 1, 1, S)
    )


def causal_mask(n, m=None, device=None):
    if m is None:
        m = n
    hidden = torch.triu(torch.ones((n, m), device=device), diagonal=1 + m - n)
    return hidden == 0


def combine_masks(*masks):
    given = [x for x in masks if x is not None]
    return reduce(torch.logical_and, given) if given else None
