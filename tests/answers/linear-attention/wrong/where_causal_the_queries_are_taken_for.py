# family: core
# mistake: none
# Where causal, the queries are taken for the first n of m positions, not for the last.
"""Linear attention as the recurrent network that it is."""

import torch
import torch.nn.functional as F


class State:
    """What a query has to know of the keys so far."""

    def __init__(self, like_k, like_v):
        B, H, _, d_k = like_k.shape
        self.kv = like_k.new_zeros(B, H, d_k, like_v.shape[-1])
        self.k = like_k.new_zeros(B, H, d_k)

    def add(self, k, v):
        self.kv = self.kv + torch.einsum("bhmd,bhmv->bhdv", k, v)
        self.k = self.k + k.sum(2)

    def ask(self, q, eps):
        top = torch.einsum("bhnd,bhdv->bhnv", q, self.kv)
        bottom = torch.einsum("bhnd,bhd->bhn", q, self.k)
        return top / (bottom[..., None] + eps)


def linear_attention(q, k, v, causal=False, eps=1e-6):
    wide = torch.promote_types(q.dtype, torch.float32)
    phi_q, phi_k = F.elu(q.to(wide)) + 1, F.elu(k.to(wide)) + 1
    values = v.to(wide)
    state = State(phi_k, values)
    if not causal:
        state.add(phi_k, values)
        return state.ask(phi_q, eps).to(q.dtype)
    outputs = []
    old = 0  # wrong
    state.add(phi_k[:, :, :old], values[:, :, :old])
    for i in range(q.shape[2]):
        here = slice(old + i, old + i + 1)
        state.add(phi_k[:, :, here], values[:, :, here])
        outputs.append(state.ask(phi_q[:, :, i : i + 1], eps))
    return torch.cat(outputs, dim=2).to(q.dtype)
