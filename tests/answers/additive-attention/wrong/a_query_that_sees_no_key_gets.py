# family: core
# mistake: dead-rows-nan
# A query that sees no key gets NaN, since the softmax of a row of -inf is never put to 0.
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


class AdditiveAttention(nn.Module):
    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.drop = nn.Dropout(dropout)

    def score(self, queries: Tensor, keys: Tensor) -> Tensor:
        pairs = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]
        return torch.einsum("bnmh,oh->bnm", torch.tanh(pairs), self.w_v.weight)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        scores = self.score(queries, keys)
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
        weights = scores.softmax(dim=-1)  # wrong
        output = torch.einsum("bnm,bmd->bnd", self.drop(weights), values)
        return Attended(output, weights)
