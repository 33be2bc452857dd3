"""Attention whose cost grows with the number of tokens, not with its square.

    output_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps),   S_i = sum_j phi(k_j) v_j^T,   z_i = sum_j phi(k_j)

with phi(x) = elu(x) + 1; j runs over all keys, or over those up to the query's own position.
Katharopoulos et al. 2020, "Transformers are RNNs" (arXiv:2006.16236), section 3.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    """Attend with the kernel phi(q) · phi(k), phi(x) = elu(x) + 1, in the place of exp(q · k).

    q       (B, H, n, d_k); where causal, the last n of m positions
    k       (B, H, m, d_k)
    v       (B, H, m, d_v)
    causal  a query sees its own and earlier positions only
    eps     added to the sum of the weights by which a result is divided

    Returns (B, H, n, d_v). Work and memory grow with n + m, not with n * m.
    """
    queries = F.elu(q) + 1  # (B, H, n, d_k)
    keys = F.elu(k) + 1  # (B, H, m, d_k)

    if causal:
        n, m = q.size(2), k.size(2)
        products = keys.unsqueeze(-1) * v.unsqueeze(-2)  # (B, H, m, d_k, d_v)
        states = torch.cumsum(products, dim=2)[:, :, m - n :]  # (B, H, n, d_k, d_v)
        sums = torch.cumsum(keys, dim=2)[:, :, m - n :]  # (B, H, n, d_k)
        context = (queries.unsqueeze(-2) @ states).squeeze(-2)  # (B, H, n, d_v)
        normaliser = (queries * sums).sum(dim=-1, keepdim=True)  # (B, H, n, 1)
    else:
        state = keys.transpose(-2, -1) @ v  # (B, H, d_k, d_v)
        total = keys.sum(dim=2).unsqueeze(-1)  # (B, H, d_k, 1)
        context = queries @ state  # (B, H, n, d_v)
        normaliser = queries @ total  # (B, H, n, 1)

    return context / (normaliser + eps)  # (B, H, n, d_v)
