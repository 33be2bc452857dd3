"""Cross entropy: how surprised a model is by the right class, averaged over what counts."""

import torch
from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0) -> Tensor:
    """Return the mean cross entropy of the targets under the softmax of the logits, a scalar.

        loss = mean of  (1 - ε) * -log p[target] + ε * mean over the classes of -log p        p = softmax(logits)

    logits           (..., V), any number of leading axes
    targets          (...), int64: the right classes
    ignore_index     targets of this number have no part in the mean
    label_smoothing  the share ε of a target that goes to all V classes alike

    Returns a tensor of shape () in the dtype of the logits.
    """
    raise NotImplementedError("your turn: log-probabilities, those of the targets, their mean")
