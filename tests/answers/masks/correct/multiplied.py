import torch


def padding_mask(token_ids, pad_id=0):
    keep = torch.where(token_ids.long() == pad_id, 0, 1).bool()
    return keep[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = m if m is not None else n
    rows = torch.arange(m - n, m, device=device).view(-1, 1)
    return torch.arange(m, device=device).view(1, -1).le(rows)


def combine_masks(*masks):
    product = None
    for mask in masks:
        if mask is not None:
            product = mask if product is None else product * mask
    return product
