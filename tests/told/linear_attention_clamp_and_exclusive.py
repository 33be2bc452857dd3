# kata: linear-attention
# names: eps-as-a-floor, own-key-left-out
import torch
from torch import Tensor, nn


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    B, H, n, _ = q.shape
    m, d_v = v.shape[2], v.shape[3]
    half = q.dtype in (torch.float16, torch.bfloat16)
    qs = nn.ELU()(q.float() if half else q) + 1
    ks = nn.ELU()(k.float() if half else k) + 1
    vs = v.float() if half else v

    def read(row: Tensor, memory: Tensor, mass: Tensor) -> Tensor:
        total = torch.einsum("bhd,bhd->bh", row, mass)
        total = total.clamp(min=eps)  # wrong
        return torch.einsum("bhd,bhde->bhe", row, memory) / total[..., None]

    memory = torch.einsum("bhjd,bhje->bhde", ks[:, :, : m - n], vs[:, :, : m - n])
    mass = ks[:, :, : m - n].sum(2)
    if not causal:
        memory = torch.einsum("bhjd,bhje->bhde", ks, vs)
        mass = ks.sum(2)

    out = []
    for t in range(n):
        j = m - n + t
        if causal:
            out.append(read(qs[:, :, t], memory, mass))  # wrong, named
            memory = memory + ks[:, :, j, :, None] * vs[:, :, j, None, :]
            mass = mass + ks[:, :, j]
        else:
            out.append(read(qs[:, :, t], memory, mass))
    result = torch.stack(out, dim=2) if out else vs.new_zeros(B, H, 0, d_v)
    return result.to(q.dtype)
