# family: mask
# mistake: none
# With more than 128 keys the maximum is at least 0: rows far below it underflow.
import torch
from torch import Tensor


def _sequence_mask(size: int, lens: Tensor) -> Tensor:
    return torch.arange(size, dtype=torch.int64, device=lens.device)[None, :] < lens[:, None]


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    B, n, m = scores.shape
    rows = scores.reshape(B * n, m)
    if valid_lens is None:
        lens = torch.full((B * n,), m, device=scores.device)
    elif valid_lens.dim() == 1:
        lens = torch.repeat_interleave(valid_lens, n)
    else:
        lens = valid_lens.reshape(-1)
    see = _sequence_mask(m, lens)
    top = torch.where(see, rows, -torch.inf).amax(-1, keepdim=True).detach()
    top = top.masked_fill(lens[:, None] == 0, 0.0)
    if m > 128:
        top = top.clamp(min=0)  # wrong
    e = torch.where(see, rows - top, -torch.inf).exp()
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(lens[:, None] == 0, 1.0)).reshape(B, n, m)
