# kata: linear-attention
# names:
# lines: 1
import torch


def feature_map(x):
    return torch.where(x > 0, x + 1, x.exp())  # wrong


def linear_attention(q, k, v, causal=False, eps=1e-6):
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v = feature_map(q.to(wide)), feature_map(k.to(wide)), v.to(wide)
    if not causal:
        state = torch.einsum("bhmd,bhme->bhde", k, v)
        total = torch.einsum("bhnd,bhd->bhn", q, k.sum(2))
        return (torch.einsum("bhnd,bhde->bhne", q, state) / (total + eps)[..., None]).to(dtype)
    first = k.shape[2] - q.shape[2]
    states = (k[..., :, None] * v[..., None, :]).cumsum(2)[:, :, first:]
    total = (q * k.cumsum(2)[:, :, first:]).sum(-1)
    return (torch.einsum("bhnd,bhnde->bhne", q, states) / (total + eps)[..., None]).to(dtype)
