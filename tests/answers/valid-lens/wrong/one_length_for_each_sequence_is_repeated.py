# family: core
# mistake: tiled
# One length for each sequence is repeated in the wrong order (repeat instead of repeat_interleave).
"""As in d2l.ai: the scores become a matrix, with a length for each of its rows."""

import torch
from torch import Tensor


def sequence_mask(X: Tensor, valid_len: Tensor) -> Tensor:
    maxlen = X.size(1)
    return torch.arange(maxlen, device=X.device)[None, :] < valid_len[:, None]


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    shape = scores.shape
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat(shape[1])  # wrong
    else:
        valid_lens = valid_lens.reshape(-1)
    X = scores.reshape(-1, shape[-1])
    mask = sequence_mask(X, valid_lens)
    X = X.masked_fill(~mask, float("-inf"))
    X = X.masked_fill((valid_lens == 0)[:, None], 0.0)
    weights = torch.softmax(X, dim=-1).masked_fill(~mask, 0.0)
    return weights.reshape(shape)
