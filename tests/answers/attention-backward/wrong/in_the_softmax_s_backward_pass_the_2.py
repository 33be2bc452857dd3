# family: core
# mistake: average-over-the-queries
# In the softmax's backward pass the sum is taken over the queries (dim=-2) where it belongs over the keys.
import math

import torch
from torch import Tensor


def _forward_weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    if mask is None:
        return torch.softmax(scores, dim=-1)
    hidden = ~mask
    return torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1).masked_fill(hidden, 0)


def _softmax_backward(weights: Tensor, d_weights: Tensor) -> Tensor:
    inner = (weights * d_weights).sum(dim=-2, keepdim=True)  # wrong
    return weights * (d_weights - inner)


def _matmul_backward(a: Tensor, b: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of a @ b, where d arrives."""
    return d @ b.transpose(-2, -1), a.transpose(-2, -1) @ d


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = q.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    q, k, v, d_output = (t.to(wide) for t in (q, k, v, d_output))
    weights = _forward_weights(q, k, mask)
    d_weights, dv = _matmul_backward(weights, v, d_output)
    if mask is not None:
        d_weights = d_weights.masked_fill(~mask, 0)
    d_scores = _softmax_backward(weights, d_weights) / math.sqrt(k.size(-1))
    dq, dk_t = _matmul_backward(q, k.transpose(-2, -1), d_scores)
    return dq.to(dtype), dk_t.transpose(-2, -1).to(dtype), dv.to(dtype)
