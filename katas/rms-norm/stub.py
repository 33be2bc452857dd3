"""Root mean square normalisation: layer norm without the mean."""

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide every token by the root mean square of its features, then scale each feature.

        y = x / sqrt(mean(x²) + eps) * weight

    x       (..., d), any number of leading axes
    weight  (d,)
    eps     added to the mean square

    Returns (..., d) in the dtype of x.
    """
    raise NotImplementedError("your turn: square, mean, root, scale")
