# family: dtype
# mistake: positions-in-half-precision
# The positions have the scores' dtype, in which half precision cannot count thousands of keys.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    positions = torch.arange(scores.shape[-1], dtype=scores.dtype, device=scores.device)  # wrong
    lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
    mask = (positions < lens).expand(scores.shape)
    filled = scores.masked_fill(~mask, float("-inf"))
    filled = filled.masked_fill(lens == 0, 0.0)
    return torch.softmax(filled, dim=-1).masked_fill(~mask, 0.0)
