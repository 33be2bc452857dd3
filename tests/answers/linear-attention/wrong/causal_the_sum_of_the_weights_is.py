# family: core
# mistake: normaliser-of-all-keys
# Causal, the sum of the weights is over all keys, later ones too.
import torch
from torch import Tensor
from torch.nn.functional import elu


def phi(x: Tensor) -> Tensor:
    return elu(x) + 1


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    n, m = q.size(-2), k.size(-2)
    fq, fk = phi(q), phi(k)
    if causal:
        outer = torch.einsum("bhmd,bhmv->bhmdv", fk, v).cumsum(dim=2)[:, :, m - n:]
        num = torch.einsum("bhnd,bhndv->bhnv", fq, outer)
        den = torch.einsum("bhnd,bhd->bhn", fq, fk.sum(dim=2))  # wrong
    else:
        num = torch.einsum("bhnd,bhdv->bhnv", fq, torch.einsum("bhmd,bhmv->bhdv", fk, v))
        den = torch.einsum("bhnd,bhd->bhn", fq, fk.sum(dim=2))
    return num / (den.unsqueeze(-1) + eps)
