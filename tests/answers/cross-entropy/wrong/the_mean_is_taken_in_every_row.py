# family: core
# mistake: mean-of-means
# The mean is taken in every row first and then over the rows, not over all tokens that count.
import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_p = torch.log_softmax(wide, dim=-1)
    counts = targets != ignore_index
    safe = torch.where(counts, targets, 0)
    right = -log_p.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    spread = -log_p.mean(dim=-1)
    losses = (1 - label_smoothing) * right + label_smoothing * spread
    losses = torch.where(counts, losses, 0.0)
    losses, counts = torch.atleast_1d(losses), torch.atleast_1d(counts)
    rows = losses.sum(dim=-1) / counts.sum(dim=-1).clamp(min=1)  # wrong
    some = counts.any(dim=-1)
    return (rows.sum() / some.sum().clamp(min=1)).to(logits.dtype)
