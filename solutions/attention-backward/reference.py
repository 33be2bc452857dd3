"""The backward pass of scaled dot-product attention, by hand.

    P = softmax(S)    S = Q Kᵀ / √d_k    O = P V

    dV = Pᵀ dO    dP = dO Vᵀ    dS = P ∘ (dP - rowsum(P ∘ dP))    dQ = dS K / √d_k    dK = dSᵀ Q / √d_k

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), equation 1; the way back as in Dao et al. 2022,
"FlashAttention" (arXiv:2205.14135), appendix B.2. In the shape comments the leading dimensions are written B; there
may be any number of them.
"""

import math

import torch
from torch import Tensor


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a loss through attention, with any number of leading dimensions.

        output = softmax(q kᵀ / √d_k) v

    q         (..., n, d_k)
    k         (..., m, d_k)
    v         (..., m, d_v)
    d_output  (..., n, d_v), the gradient of the loss with respect to output
    mask      bool, broadcasts to (..., n, m), True = this key may be attended to; None = everything is visible

    Returns (dq, dk, dv), the gradients with respect to q, k and v, in their shapes and their dtype. A query that may
    attend to nothing has an output of 0 whatever it is: it adds nothing to any of them.
    """
    dtype, scale = q.dtype, 1 / math.sqrt(k.size(-1))
    wide = torch.promote_types(dtype, torch.float32)  # dS is a small difference; float64 stays float64
    q, k, v, d_output = q.to(wide), k.to(wide), v.to(wide), d_output.to(wide)

    scores = q @ k.transpose(-2, -1) * scale  # (B, n, m)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # (B, n, m)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN

    dv = weights.transpose(-2, -1) @ d_output  # (B, m, d_v)
    d_weights = d_output @ v.transpose(-2, -1)  # (B, n, m)
    average = (weights * d_weights).sum(dim=-1, keepdim=True)  # (B, n, 1)
    d_scores = weights * (d_weights - average)  # (B, n, m)
    dq = d_scores @ k * scale  # (B, n, d_k)
    dk = d_scores.transpose(-2, -1) @ q * scale  # (B, m, d_k)
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
