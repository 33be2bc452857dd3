# family: core
# mistake: d-v-defaults-to-d-model
# Without d_v the values are as wide as the tokens (d_model), not as the keys (d_k).
import torch
from torch import Tensor, nn


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    root = queries.shape[-1] ** 0.5
    scores = torch.baddbmm(queries.new_zeros(()), queries / root, keys.transpose(1, 2))
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        visible = mask.broadcast_to(scores.shape)
        blind = ~visible.any(dim=-1, keepdim=True)
        scores = torch.where(visible, scores, -torch.inf)
        weights = torch.softmax(scores.masked_fill(blind, 0.0), dim=-1)
        weights = weights.masked_fill(~visible, 0.0)
    return torch.bmm(weights, values), weights


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        d_v = d_model if d_v is None else d_v  # wrong
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_v, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return attend(self.W_q(x), self.W_k(x), self.W_v(x), mask)
