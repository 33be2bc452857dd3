# family: core
# mistake: none
# Where causal, the sum of the weights is still that over all keys.
import torch
import torch.nn.functional as F
from torch import Tensor


def _phi(x: Tensor) -> Tensor:
    return F.elu(x) + 1


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    fq, fk, v = _phi(q.to(wide)), _phi(k.to(wide)), v.to(wide)
    n, m = q.shape[-2], k.shape[-2]
    total = fk.sum(dim=-2)
    weights = torch.einsum("bhnd,bhd->bhn", fq, total).unsqueeze(-1)  # wrong
    if not causal:
        state = torch.einsum("bhmd,bhmv->bhdv", fk, v)
        return (torch.einsum("bhnd,bhdv->bhnv", fq, state) / (weights + eps)).to(dtype)
    states = torch.einsum("bhmd,bhmv->bhmdv", fk, v).cumsum(dim=2)[:, :, m - n :]
    return (torch.einsum("bhnd,bhndv->bhnv", fq, states) / (weights + eps)).to(dtype)
