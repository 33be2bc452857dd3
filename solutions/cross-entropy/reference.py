"""Cross entropy: how surprised a model is by the right class, averaged over what counts.

    loss = mean of  (1 - ε) * -log p[target] + ε * mean over the classes of -log p        p = softmax(logits)

The mean leaves out what has the target `ignore_index`. Label smoothing ε: Szegedy et al. 2016, "Rethinking the
Inception Architecture for Computer Vision" (arXiv:1512.00567), section 7.
"""

import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    """Return the mean cross entropy of the targets under the softmax of the logits, a scalar.

    logits           (..., V), any number of leading axes
    targets          (...), int64: the right classes
    ignore_index     targets of this number have no part in the mean
    label_smoothing  the share ε of a target that goes to all V classes alike

    Returns a tensor of shape () in the dtype of the logits.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # sums of halves overflow; float64 stays float64
    log_probs = torch.log_softmax(wide, dim=-1)  # (..., V)
    counted = targets != ignore_index  # (...)
    classes = torch.where(counted, targets, 0)  # (...)
    surprise = -log_probs.gather(-1, classes.unsqueeze(-1)).squeeze(-1)  # (...)
    spread = -log_probs.mean(dim=-1)  # (...)
    losses = (1 - label_smoothing) * surprise + label_smoothing * spread  # (...)
    total = torch.where(counted, losses, 0.0).sum()
    return (total / counted.sum().clamp(min=1)).to(logits.dtype)
