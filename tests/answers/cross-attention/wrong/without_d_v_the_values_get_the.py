# family: core
# mistake: d-v-defaults-to-d-model
# Without d_v the values get the width d_model in the place of d_k.
import torch
from torch import Tensor, nn


def _or_else(value: int | None, default: int) -> int:
    return default if value is None else value


def _masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(scores, -1)
    shown = torch.where(mask, scores, -torch.inf)
    return torch.where(mask, torch.softmax(shown, -1), 0.0)


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    weights = _masked_softmax(q @ k.mT * q.shape[-1] ** -0.5, mask)
    return weights @ v, weights


class CrossAttention(nn.Module):
    def __init__(
        self, d_model: int, d_k: int, d_v: int | None = None, d_context: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        d_v = _or_else(d_v, d_model)  # wrong
        d_context = _or_else(d_context, d_model)
        self.W_q = nn.Linear(d_model, d_k, bias)
        self.W_k = nn.Linear(d_context, d_k, bias)
        self.W_v = nn.Linear(d_context, d_v, bias)

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return _attend(self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv), mask)
