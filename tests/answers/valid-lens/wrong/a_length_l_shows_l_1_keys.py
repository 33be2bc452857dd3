# family: core
# mistake: one-too-many
# A length L shows L + 1 keys (<= instead of <).
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    if valid_lens is None:
        return scores.softmax(-1)
    L = valid_lens.reshape(valid_lens.shape[0], -1, 1)
    keep = (torch.arange(scores.size(2), device=scores.device) <= L).expand_as(scores)  # wrong
    s = scores.masked_fill(~keep, -torch.inf)
    s = torch.where(keep.any(-1, keepdim=True), s, 0.0)
    return s.softmax(-1).masked_fill(~keep, 0)
