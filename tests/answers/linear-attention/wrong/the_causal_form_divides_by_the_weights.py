# family: core
# mistake: normaliser-of-all-keys
# The causal form divides by the weights of all keys, later ones included.
import torch
import torch.nn.functional as F
from torch import Tensor


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    phi_q, phi_k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        numerator = phi_q @ (phi_k.transpose(-2, -1) @ v)
        denominator = phi_q @ phi_k.sum(dim=2).unsqueeze(-1)
        return (numerator / (denominator + eps)).to(dtype)
    n, m = q.shape[2], k.shape[2]
    past = m - n
    state = torch.einsum("bhmd,bhme->bhde", phi_k[:, :, :past], v[:, :, :past])
    rows = []
    for i in range(n):
        j = past + i
        state = state + torch.einsum("bhd,bhe->bhde", phi_k[:, :, j], v[:, :, j])
        rows.append(torch.einsum("bhd,bhde->bhe", phi_q[:, :, i], state))
    numerator = torch.stack(rows, dim=2)
    z = phi_k.sum(dim=2, keepdim=True)  # wrong
    denominator = (phi_q * z).sum(dim=-1, keepdim=True)
    return (numerator / (denominator + eps)).to(dtype)
