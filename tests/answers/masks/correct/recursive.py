import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() - pad_id).bool()[:, None, None, :]


def causal_mask(n, m=None, device=None):
    if m is None:
        m = n
    past = torch.full((n, m - n), True, device=device)
    own = torch.full((n, n), True, device=device).tril()
    return torch.cat([past, own], dim=1)


def combine_masks(*masks):
    if not masks:
        return None
    first, *rest = masks
    others = combine_masks(*rest)
    if first is None:
        return others
    return first if others is None else torch.minimum(first, others)
