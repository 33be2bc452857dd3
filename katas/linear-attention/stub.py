"""Attention whose cost grows with the number of tokens, not with its square."""

import torch
from torch import Tensor


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    """Attend with the kernel phi(q) · phi(k), phi(x) = elu(x) + 1, in the place of exp(q · k).

    q       (B, H, n, d_k); where causal, the last n of m positions
    k       (B, H, m, d_k)
    v       (B, H, m, d_v)
    causal  a query sees its own and earlier positions only
    eps     added to the sum of the weights by which a result is divided

    Returns (B, H, n, d_v). Work and memory grow with n + m, not with n * m.
    """
    raise NotImplementedError("your turn: apply the feature map, then choose where to put the brackets")
