# family: core
# mistake: none
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(m - n)


def combine_masks(a=None, b=None):
    if a is None:
        return b
    return a if b is None else a & b
