# family: core
# mistake: none
# The diagonal of the causal mask is shifted the wrong way, n - m instead of m - n.
from functools import reduce

import torch


def padding_mask(token_ids, pad_id=0):
    return token_ids.ne(pad_id)[:, None, None]


def causal_mask(n, m=None, device=None):
    if m is None:
        m = n
    everything = torch.ones((n, m), dtype=torch.bool, device=device)
    return everything.tril(diagonal=n - m)  # wrong


def combine_masks(*masks):
    given = [x for x in masks if x is not None]
    return reduce(torch.logical_and, given) if given else None
