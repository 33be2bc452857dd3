import torch


def padding_mask(token_ids, pad_id=0):
    mask = torch.ones_like(token_ids, dtype=torch.bool)
    mask[token_ids.to(torch.int64) == pad_id] = False
    return mask.reshape(mask.shape[0], 1, 1, mask.shape[1])


def causal_mask(n, m=None, device=None):
    if m is None:
        m = n
    mask = torch.zeros(n, m, dtype=torch.bool, device=device)
    for i in range(n):
        mask[i, : m - n + i + 1] = True
    return mask


def combine_masks(*masks):
    masks = tuple(filter(lambda t: t is not None, masks))
    if len(masks) == 0:
        return None
    return torch.stack(torch.broadcast_tensors(*masks)).all(dim=0)
