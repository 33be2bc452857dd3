# family: core
# mistake: scale-of-the-values
# The scale is that of the values' width, not of the keys'.
import torch
from torch import Tensor


def _weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=-1)
    lonely = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(lonely, 0.0)
    return torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v, d_output = (t.to(wide) for t in (q, k, v, d_output))
    scale = v.shape[-1] ** -0.5  # wrong

    weights = _weights((q * scale) @ k.transpose(-2, -1), mask)

    dv = weights.transpose(-2, -1) @ d_output
    d_weights = d_output @ v.transpose(-2, -1)
    if mask is not None:
        d_weights = d_weights.masked_fill(~mask, 0.0)
    d_scores = weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))
    dq = d_scores @ k * scale
    dk = d_scores.transpose(-2, -1) @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
