# family: core
# mistake: own-key-left-out
# Causal, the result is read before the token's own key and value are in the state.
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    fq = F.elu(q) + 1
    fk = F.elu(k) + 1
    B, H, n, d = q.shape
    m, dv = v.shape[2], v.shape[3]

    def read(query, S, z):
        return torch.einsum("bhd,bhdv->bhv", query, S) / (torch.einsum("bhd,bhd->bh", query, z)[..., None] + eps)

    if not causal:
        S = torch.einsum("bhmd,bhmv->bhdv", fk, v)
        z = fk.sum(2)
        return torch.einsum("bhnd,bhdv->bhnv", fq, S) / (torch.einsum("bhnd,bhd->bhn", fq, z)[..., None] + eps)

    S = torch.zeros(B, H, d, dv, dtype=q.dtype, device=q.device)
    z = torch.zeros(B, H, d, dtype=q.dtype, device=q.device)
    ys = []
    for t in range(m):
        if t >= m - n:
            ys.append(read(fq[:, :, t - (m - n)], S, z))  # wrong
        S = S + fk[:, :, t, :, None] * v[:, :, t, None, :]
        z = z + fk[:, :, t]
    return torch.stack(ys, dim=2)
