# family: contract
# mistake: combine-in-place
import torch


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril(m - n)


def combine_masks(*masks):
    masks = [m for m in masks if m is not None]
    if not masks:
        return None
    masks.sort(key=lambda m: -m.numel())
    out = masks[0]
    for mask in masks[1:]:
        if out.shape == torch.broadcast_shapes(out.shape, mask.shape):
            out &= mask
        else:
            out = out & mask
    return out
