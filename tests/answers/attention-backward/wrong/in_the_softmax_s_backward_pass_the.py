# family: core
# mistake: average-over-the-queries
# In the softmax's backward pass the sum is over the queries, not over the keys.
import torch
from torch import Tensor


def _weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    return torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)


def attention_backward(q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    Q, K, V, G = (t.to(wide) for t in (q, k, v, d_output))
    root = K.shape[-1] ** 0.5
    A = _weights(torch.einsum("...nd,...md->...nm", Q, K) / root, mask)
    dV = torch.einsum("...nm,...nv->...mv", A, G)
    dA = torch.einsum("...nv,...mv->...nm", G, V)
    if mask is not None:
        dA = dA.masked_fill(~mask, 0.0)
    dS = A * (dA - (A * dA).sum(dim=-2, keepdim=True)) / root  # wrong
    dQ = torch.einsum("...nm,...md->...nd", dS, K)
    dK = torch.einsum("...nm,...nd->...md", dS, Q)
    return dQ.to(q.dtype), dK.to(k.dtype), dV.to(v.dtype)
