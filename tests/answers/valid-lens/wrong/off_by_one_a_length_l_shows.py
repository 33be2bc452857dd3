# family: core
# mistake: one-too-many
# Off by one, a length L shows L + 1 keys.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    if valid_lens is None:
        return scores.softmax(-1)
    positions = torch.arange(scores.size(-1), device=scores.device)
    if valid_lens.dim() == 1:
        lens = valid_lens[:, None, None]
    else:
        lens = valid_lens[:, :, None]
    mask = positions <= lens  # wrong
    w = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return w.masked_fill(~mask, 0.0)
