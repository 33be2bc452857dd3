# family: core
# mistake: aligned-top-left
# Where causal, query i sees the keys 0 to i, also with n < m, where it stands at position m - n + i.
import torch
from torch import Tensor


class RecurrentState:
    """Sum of the outer products, and sum of the features, of all keys so far."""

    def __init__(self, like_k: Tensor, like_v: Tensor) -> None:
        batch, heads, _, d_k = like_k.shape
        self.values = like_v.new_zeros(batch, heads, d_k, like_v.shape[-1])
        self.features = like_k.new_zeros(batch, heads, d_k)

    def add(self, k: Tensor, v: Tensor) -> None:
        """k (B, H, t, d_k), v (B, H, t, d_v)"""
        self.values = self.values + k.transpose(-2, -1) @ v
        self.features = self.features + k.sum(dim=2)

    def ask(self, q: Tensor, eps: float) -> Tensor:
        """q (B, H, t, d_k)"""
        weights = (q @ self.features.unsqueeze(-1)) + eps
        return (q @ self.values) / weights


def feature_map(x: Tensor) -> Tensor:
    return torch.nn.functional.elu(x) + 1


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-6) -> Tensor:
    wide = torch.promote_types(q.dtype, torch.float32)
    phi_q, phi_k, values = feature_map(q.to(wide)), feature_map(k.to(wide)), v.to(wide)
    state = RecurrentState(phi_k, values)
    if not causal:
        state.add(phi_k, values)
        return state.ask(phi_q, eps).to(q.dtype)
    outputs = []
    seen = 0
    for i in range(q.shape[2]):
        until = i + 1  # wrong
        state.add(phi_k[:, :, seen:until], values[:, :, seen:until])
        seen = until
        outputs.append(state.ask(phi_q[:, :, i : i + 1], eps))
    return torch.cat(outputs, dim=2).to(q.dtype)
