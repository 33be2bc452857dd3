# family: core
# mistake: tiled
# The lengths are tiled (repeat) where each should be repeated n times in a row (repeat_interleave).
import torch
from torch.nn import functional as F


def sequence_mask(X, valid_len):
    maxlen = X.size(1)
    return torch.arange(maxlen, device=X.device)[None, :] < valid_len[:, None]


def masked_softmax(scores, valid_lens=None):
    """d2l-style: flatten to rows, mask the rows, softmax."""
    if valid_lens is None:
        return F.softmax(scores, dim=-1)
    shape = scores.shape
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat(shape[1])  # wrong
    else:
        valid_lens = valid_lens.reshape(-1)
    rows = scores.reshape(-1, shape[-1])
    mask = sequence_mask(rows, valid_lens)
    weights = F.softmax(rows.masked_fill(~mask, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0.0).reshape(shape)
