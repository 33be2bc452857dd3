# family: core
# mistake: divided-by-all
# The sum of the losses is divided by the number of all targets, ignored ones included.
import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    dtype = logits.dtype
    if dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    counts = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    safe = targets.masked_fill(~counts, 0)
    right = -log_p.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    losses = (1 - label_smoothing) * right - label_smoothing * log_p.mean(dim=-1)
    losses = losses.masked_fill(~counts, 0.0)
    return losses.mean().to(dtype)  # wrong
