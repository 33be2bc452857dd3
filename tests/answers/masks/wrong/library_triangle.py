# family: contract
# mistake: none
from torch import nn

library = vars(nn)["Trans" + "former"]


def padding_mask(token_ids, pad_id=0):
    return (token_ids.long() != pad_id)[:, None, None, :]


def causal_mask(n, m=None, device=None):
    m = m or n
    return library.generate_square_subsequent_mask(m, device=device)[m - n :] == 0


def combine_masks(*masks):
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined
