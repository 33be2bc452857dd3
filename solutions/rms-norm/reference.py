"""Root mean square normalisation: layer norm without the mean.

    y = x / sqrt(mean(x²) + eps) * weight        the mean over the features of one token

Zhang and Sennrich 2019, "Root Mean Square Layer Normalization" (arXiv:1910.07467), section 4.
"""

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide every token by the root mean square of its features, then scale each feature.

    x       (..., d), any number of leading axes
    weight  (d,)
    eps     added to the mean square

    Returns (..., d) in the dtype of x.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # squares of halves overflow; float64 stays float64
    mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
    normed = wide / torch.sqrt(mean_square + eps)  # (..., d)
    return (normed * weight).to(x.dtype)
