# family: core
# mistake: none
# Lengths of one axis are taken to be one a query where there are as many of them as queries.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    B, n, m = scores.shape
    if valid_lens.dim() == 2:
        lens = valid_lens[:, :, None]
    elif len(valid_lens) == n:  # wrong
        lens = valid_lens[None, :, None]
    else:
        lens = valid_lens[:, None, None]
    hidden = torch.arange(m, device=scores.device) >= lens
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
    return weights.masked_fill(hidden, 0.0)
