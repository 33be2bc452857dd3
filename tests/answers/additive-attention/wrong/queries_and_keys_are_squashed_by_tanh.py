# family: core
# mistake: tanh-of-each
# Queries and keys are squashed by tanh before they are added, not after.
"""Additive attention, many small helpers."""

import torch
from torch import Tensor, nn


def visible(mask: Tensor | None, scores: Tensor) -> Tensor:
    if mask is None:
        return torch.ones_like(scores, dtype=torch.bool)
    return mask.expand_as(scores)


def masked_softmax(scores: Tensor, seen: Tensor) -> Tensor:
    some = seen.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~seen, float("-inf")).masked_fill(~some, 0.0)
    return scores.softmax(dim=-1).masked_fill(~seen, 0.0)


class AdditiveAttention(nn.Module):
    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def _scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        q = self.W_q(queries).unsqueeze(2)
        k = self.W_k(keys).unsqueeze(1)
        hidden = torch.tanh(q) + torch.tanh(k)  # wrong
        return self.w_v(hidden).squeeze(-1)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        scores = self._scores(queries, keys)
        weights = masked_softmax(scores, visible(mask, scores))
        return torch.bmm(self.dropout(weights), values), weights
